//! The cases of ground state, upon git.

use std::path::Path;

use agentic_model::Oid;
use agentic_store::cases::FragileGround;

use crate::Repository;

/// Makes a bare repository in a folder.
fn in_git(folder: &Path) -> Repository {
    gix::init_bare(folder).expect("a new repository");
    Repository::open(folder).expect("just made")
}

/// Changes the file of an object, which stands by itself.
fn change(repository: &Repository, oid: Oid, change: impl FnOnce(&Path) -> std::io::Result<()>) {
    let hex = oid.to_string();
    let path = repository.common_dir().join("objects").join(&hex[..2]).join(&hex[2..]);
    change(&path).expect("it stands by itself, and is ours");
}

impl FragileGround for Repository {
    fn lose_object(&self, oid: Oid) {
        change(self, oid, |path| std::fs::remove_file(path));
    }

    fn spoil_object(&self, oid: Oid) {
        change(self, oid, |path| {
            std::fs::remove_file(path)?;
            std::fs::write(path, [0; 16])
        });
    }
}

agentic_store::ground_cases!(crate::ground::tests::in_git);
