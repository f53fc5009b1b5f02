//! Objects that git misses and a journal still has: a prune took them, or their file is damaged.
//!
//! The record's bytes serve at once. They are written again under the lock of their stream if that
//! is this process's own or free: nobody waits for a second lock here, and where nothing can be
//! written they only serve. Journals are searched once a process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agentic_model::Oid;
use gix::hash::Kind as HashKind;
use gix::zlib::Compression;

use super::loose::{self, Compressor};
use super::{to_gix, to_oid};
use agentic_store::journal::{self, Content, GitKind, GitObject, JournalBody, Transaction};
use agentic_store::layout::{Layout, Stream};
use agentic_store::lock::Lock;
use agentic_store::{Error, Result};

/// A segment of a journal: the number of its stream in the list, and its own.
type SegmentPlace = (usize, u64);

/// What journals have of objects.
pub(super) struct Recall {
    common_dir: PathBuf,
    layout: Layout,
    hash: HashKind,
    streams: Vec<Stream>,
    /// Where each object stands; nothing as long as none was missed.
    places: Option<BTreeMap<Oid, SegmentPlace>>,
    /// The segment that was read last.
    segment: Option<(SegmentPlace, BTreeMap<Oid, GitObject>)>,
    /// The streams whose locks this process holds.
    held: Vec<Stream>,
}

impl Recall {
    /// Makes one for a repository; nothing is read yet.
    pub fn new(common_dir: &Path, hash: HashKind) -> Recall {
        Recall {
            common_dir: common_dir.to_owned(),
            layout: Layout::new(common_dir),
            hash,
            streams: Vec::new(),
            places: None,
            segment: None,
            held: Vec::new(),
        }
    }

    /// Notes that the lock of a stream is held from now on.
    pub fn hold(&mut self, stream: &Stream) {
        self.held.push(stream.clone());
    }

    /// Notes that it is no more.
    pub fn release(&mut self, stream: &Stream) {
        if let Some(at) = self.held.iter().position(|held| held == stream) {
            self.held.remove(at);
        }
    }

    /// Finds an object that the disk lacks, and writes it again if that can be done now.
    pub fn find(&mut self, oid: Oid) -> Option<GitObject> {
        if self.places.is_none() {
            let places = self.search();
            self.places = Some(places);
        }
        let place = *self.places.as_ref()?.get(&oid)?;
        let object = self.read(place, oid)?;
        let stream = self.streams[place.0].clone();
        let lock = match self.held.contains(&stream) {
            true => None,
            false => match Lock::try_take(&self.layout.lock(&stream), &self.common_dir) {
                Ok(Some(lock)) => Some(lock),
                // Somebody else holds it, or nothing can be written here.
                Ok(None) | Err(_) => return Some(object),
            },
        };
        // Whoever removes something for good holds that lock, and has by now.
        self.segment = None;
        let object = self.read(place, oid)?;
        let _serves_anyway = self.write(&object, oid);
        drop(lock);
        Some(object)
    }

    fn search(&mut self) -> BTreeMap<Oid, SegmentPlace> {
        let mut places = BTreeMap::new();
        let entries = std::fs::read_dir(self.layout.journals()).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name());
        self.streams = names.filter_map(|name| Stream::parse(name.to_str()?)).collect();
        for (number, stream) in self.streams.iter().enumerate() {
            // One that is damaged or goes away meanwhile has nothing.
            for segment in journal::segments(&self.layout, stream).unwrap_or_default() {
                let place = (number, segment.number);
                places.extend(self.objects_in(place).into_keys().map(|oid| (oid, place)));
            }
        }
        places
    }

    fn read(&mut self, place: SegmentPlace, oid: Oid) -> Option<GitObject> {
        if self.segment.as_ref().is_none_or(|(read, _)| *read != place) {
            self.segment = Some((place, self.objects_in(place)));
        }
        self.segment.as_ref()?.1.get(&oid).cloned()
    }

    fn objects_in(&self, (stream, segment): SegmentPlace) -> BTreeMap<Oid, GitObject> {
        let records = journal::records_of(&self.layout, &self.streams[stream], segment);
        let mut objects = BTreeMap::new();
        for record in records.unwrap_or_default() {
            if let JournalBody::Transaction(transaction) = record.body {
                for object in objects_of(*transaction) {
                    let name =
                        gix::objs::compute_hash(self.hash, to_gix(object.kind), &object.bytes);
                    objects.extend(name.ok().map(|name| (to_oid(&name), object)));
                }
            }
        }
        objects
    }

    fn write(&self, object: &GitObject, oid: Oid) -> Result<()> {
        let objects = self.common_dir.join("objects");
        let hex = oid.to_string();
        let path = loose::path_of(&objects, &hex);
        if path.exists() {
            // It is there and could not be read.
            let aside = self.layout.damaged_objects();
            std::fs::create_dir_all(&aside).map_err(Error::io("create", &aside))?;
            std::fs::rename(&path, aside.join(&hex)).map_err(Error::io("set aside", &path))?;
        }
        let length = object.bytes.len() as u64;
        let head = gix::objs::encode::loose_header(to_gix(object.kind), length);
        let mut compressed = Vec::new();
        Compressor::new(Compression::default()).loosen(&head, object, &mut compressed)?;
        loose::place(&objects, &hex, &compressed)
    }
}

/// Lists the objects that a record has: git's, and the blobs of its notes edit.
fn objects_of(transaction: Transaction) -> impl Iterator<Item = GitObject> {
    let blob = |bytes| GitObject { kind: GitKind::Blob, bytes };
    let (notes, kept) = match transaction.notes {
        Some(edit) => (edit.notes, edit.objects),
        None => (Vec::new(), Vec::new()),
    };
    let notes = notes.into_iter().map(move |(_, text)| blob(text.into_bytes()));
    let kept = kept.into_iter().filter_map(move |object| match object.content {
        Content::Inline(bytes) => Some(blob(bytes)),
        Content::Stored(_) => None,
    });
    transaction.objects.into_iter().chain(notes).chain(kept)
}
