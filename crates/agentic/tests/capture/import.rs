//! Import beside hooks, of files that move and change, in little memory.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;

use serde_json::{Value, json};

use crate::stage::{CaptureStage, files};
use crate::talk::Talk;

/// What an import may need in memory, in bytes: 64 MiB.
const MEMORY_MAX: u64 = 64 << 20;

fn import(stage: &CaptureStage, words: &str) -> Vec<Value> {
    let text = stage.agentic("shop", &format!("import {words} --json"));
    serde_json::from_str::<Value>(&text).expect("JSON").as_array().expect("a list").clone()
}

/// Lists the bound entries of an agent as kind and text, in the order of their ids.
fn kept(stage: &CaptureStage, agent: &str) -> Vec<(String, String)> {
    let mut kept: Vec<(String, String, String)> = stage
        .bound_entries(agent)
        .iter()
        .map(|it| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (text(&it["meta"]["id"]), text(&it["kind"]), text(&it["body"]))
        })
        .collect();
    kept.sort();
    kept.into_iter().map(|(_, kind, text)| (kind, text)).collect()
}

fn refs(stage: &CaptureStage) -> String {
    stage.git("shop", "for-each-ref")
}

#[test]
fn hooks_and_imports_at_once_are_as_an_import_alone() {
    let stage = CaptureStage::new();
    let talks: Vec<Talk<'_>> = (1..=4).map(|number| Talk::new(&stage, number)).collect();
    for talk in &talks {
        talk.say("first");
    }
    std::thread::scope(|scope| {
        for talk in &talks {
            scope.spawn(|| {
                for number in 0..12 {
                    talk.say(&format!("{} {number}", talk.id));
                    assert_eq!(talk.event("UserPromptSubmit", &[]), 0);
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..8 {
                    let words = ["import", "--all", "--agent", "fix-cart"];
                    let program = env!("CARGO_BIN_EXE_agentic");
                    let ended = stage.program(program, "shop", &words, &[], b"");
                    // Another import or a hook may be in the way of one; the last takes all.
                    assert!([0, 1].contains(&ended.exit), "{}", ended.stderr);
                }
            });
        }
    });
    import(&stage, "--all --agent fix-cart");
    stage.agentic("shop", "trace attach agents/fix-cart --agent fix-cart");
    let beside = kept(&stage, "fix-cart");
    let alone = CaptureStage::new();
    for talk in &talks {
        let to = alone.folder.join("home/.claude/projects/-x").join(format!("{}.jsonl", talk.id));
        fs::create_dir_all(to.parent().expect("in a folder")).expect("writable");
        fs::copy(talk.transcript(), to).expect("readable");
    }
    import(&alone, "--all --agent fix-cart");
    let expected = kept(&alone, "fix-cart");
    assert_eq!(expected.len(), 4 * 13);
    assert_eq!(beside, expected);
    stage.check();
}

#[test]
fn a_file_that_is_rotated_compressed_truncated_or_deleted_says_nothing_twice() {
    let stage = CaptureStage::new();
    let folder = stage.folder.join("home/.codex/sessions/2026/11/18");
    let name = "rollout-2026-11-18T14-00-00-019c4b43-0000-7000-8000-0000000000aa.jsonl";
    let path = folder.join(name);
    let packed = folder.join(format!("{name}.zst"));
    let shop = stage.folder.join("shop").display().to_string();
    let mut text = json!({"timestamp": "2026-11-18T14:00:00.000Z", "type": "session_meta",
        "payload": {"id": "019c4b43-0000-7000-8000-0000000000aa", "cwd": shop}})
    .to_string();
    text.push('\n');
    let say = |text: &mut String, word: &str| {
        let line = json!({"timestamp": "2026-11-18T14:00:01.000Z", "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": word}]}});
        text.push_str(&format!("{line}\n"));
    };
    fs::create_dir_all(&folder).expect("writable");
    say(&mut text, "one");
    say(&mut text, "two");
    fs::write(&path, &text).expect("writable");
    let new = || import(&stage, "codex --all").first().map(|it| it["new"].clone());
    assert_eq!(new(), Some(json!(2)));
    let settled = refs(&stage);
    // Another inode with the same beginning.
    fs::copy(&path, folder.join("copy")).expect("readable");
    fs::rename(folder.join("copy"), &path).expect("writable");
    assert_eq!(new(), Some(json!(0)));
    // Truncated, and grown again.
    let half = text.len() - 20;
    fs::write(&path, &text[..half]).expect("writable");
    assert_eq!(new(), Some(json!(0)));
    fs::write(&path, &text).expect("writable");
    assert_eq!(new(), Some(json!(0)));
    // Compressed.
    let pack = |text: &str| {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        fs::write(&packed, ruzstd::encoding::compress_to_vec(text.as_bytes(), level))
            .expect("writable");
    };
    pack(&text);
    fs::remove_file(&path).expect("there");
    assert_eq!(new(), Some(json!(0)));
    assert_eq!(refs(&stage), settled, "nothing new moves no ref");
    say(&mut text, "three");
    pack(&text);
    assert_eq!(new(), Some(json!(1)));
    // Unpacked, with other lines before: those of which the vendor does not say an id are told by
    // what they say.
    let head_end = text.find('\n').expect("a line") + 1;
    let mut anew = text[..head_end].to_owned();
    say(&mut anew, "zero");
    anew.push_str(&text[head_end..]);
    fs::remove_file(&packed).expect("there");
    fs::write(&path, &anew).expect("writable");
    assert_eq!(new(), Some(json!(1)));
    fs::remove_file(&path).expect("there");
    assert_eq!(new(), None);
    let words: Vec<String> = {
        stage.agentic("shop", "archive --restore codex-000000aa");
        let mut words: Vec<String> =
            kept(&stage, "codex-000000aa").into_iter().map(|(_, text)| text).collect();
        words.sort();
        words
    };
    assert_eq!(words, ["one", "three", "two", "zero"]);
    stage.check();
}

#[test]
fn conversations_whose_digits_are_alike_have_agents_of_their_own() {
    let stage = CaptureStage::new();
    let shop = stage.folder.join("shop").display().to_string();
    let ids = [
        "3f2a91c0-0000-4000-8000-0000000000aa",
        "3f2a91c0-0000-4000-8000-0000000000bb",
        "3f2a91c0-0000-4000-8000-0000000000cc",
    ];
    for id in ids {
        let line = json!({"type": "user", "uuid": format!("u-{id}"), "cwd": shop,
            "timestamp": "2026-11-20T09:00:01.000Z", "message": {"role": "user", "content": id}});
        stage.write(&format!("home/.claude/projects/x/{id}.jsonl"), &format!("{line}\n"));
    }
    let taken = import(&stage, "claude --all");
    let agents: BTreeSet<&str> = taken.iter().filter_map(|it| it["agent"].as_str()).collect();
    assert_eq!(agents.len(), 3, "{taken:?}");
    assert!(agents.contains("claude-3f2a91c0") && agents.contains("claude-3f2a91c000004000"));
    let again = import(&stage, "claude --all");
    assert!(again.iter().all(|it| it["new"] == 0), "{again:?}");
    assert_eq!(stage.agents().len(), 5);
}

#[test]
fn subagents_may_be_entries_of_their_parent() {
    let stage = CaptureStage::new();
    stage.git("shop", "config agentic.captureSubagents entries");
    let shop = stage.folder.join("shop").display().to_string();
    let thread = |digit: u8, parent: Option<u8>, word: &str| {
        let id = |digit: u8| format!("019c4b43-0000-7000-8000-00000000000{digit}");
        let meta = json!({"timestamp": "2026-11-18T14:00:00.000Z", "type": "session_meta",
            "payload": {"id": id(digit), "cwd": shop, "parent_thread_id": parent.map(id)}});
        let said = json!({"timestamp": "2026-11-18T14:00:01.000Z", "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": word}]}});
        let path =
            format!("home/.codex/sessions/2026/rollout-2026-11-18T14-00-00-{}.jsonl", id(digit));
        let mut text =
            fs::read_to_string(stage.folder.join(&path)).unwrap_or_else(|_| format!("{meta}\n"));
        text.push_str(&format!("{said}\n"));
        stage.write(&path, &text);
    };
    thread(1, None, "Do it");
    thread(2, Some(1), "Find callers");
    let taken = import(&stage, "codex --all");
    assert!(taken.iter().all(|it| it["agent"] == "codex-00000001"), "{taken:?}");
    // What it says later is its own as well.
    thread(2, Some(1), "Go on");
    assert_eq!(import(&stage, "codex --all")[1]["new"], 1);
    stage.agentic("shop", "archive --restore codex-00000001");
    let entries = stage.bound_entries("codex-00000001");
    let side: Vec<(&str, bool)> = entries
        .iter()
        .filter(|it| it["kind"] == "prompt")
        .filter_map(|it| Some((it["body"].as_str()?, it["meta"]["side"] == true)))
        .collect();
    let side: BTreeSet<(&str, bool)> = side.into_iter().collect();
    let expected = [("Do it", false), ("Find callers", true), ("Go on", true)];
    assert_eq!(side, BTreeSet::from(expected));
    assert_eq!(stage.agents().len(), 3, "{:?}", stage.agents());
}

#[test]
fn a_dry_run_counts_what_a_fork_repeats_as_known() {
    let stage = CaptureStage::new();
    let shop = stage.folder.join("shop").display().to_string();
    let line = |uuid: &str, from: Option<&str>| {
        let mut line = json!({"type": "user", "uuid": uuid, "cwd": shop,
            "timestamp": "2026-11-20T09:00:01.000Z", "message": {"role": "user", "content": "Hello"}});
        if let Some(from) = from {
            line["forkedFrom"] = json!({"sessionId": "3f2a91c0-bb", "messageUuid": from});
        }
        format!("{line}\n")
    };
    stage.write("home/.claude/projects/x/3f2a91c0-bb.jsonl", &line("u1", None));
    let fork = line("v1", Some("u1")) + &line("v2", None);
    stage.write("home/.claude/projects/x/1f2a91c0-aa.jsonl", &fork);
    let told = |taken: Vec<Value>| -> Vec<(Value, Value)> {
        taken.into_iter().map(|it| (it["conversation"].clone(), it["new"].clone())).collect()
    };
    let dry = told(import(&stage, "claude --all --dry-run"));
    assert_eq!(dry, told(import(&stage, "claude --all")));
    assert_eq!(dry[1].1, 1);
}

#[test]
fn pictures_are_kept_only_where_somebody_says_so() {
    let stage = CaptureStage::new();
    let talk = Talk::new(&stage, 1);
    let picture = |uuid: &str, data: &str| {
        let line = json!({"type": "user", "uuid": uuid, "cwd": stage.folder.join("shop.agents/fix-cart"),
            "timestamp": "2026-11-20T09:00:01.000Z", "message": {"role": "user", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]}});
        let path = talk.transcript();
        fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
        let file = fs::OpenOptions::new().create(true).append(true).open(path);
        writeln!(file.expect("writable"), "{line}").expect("writable");
    };
    picture("u1", "aGVsbG8=");
    assert_eq!(talk.event("Stop", &[]), 0);
    stage.git("shop", "config agentic.captureImages keep");
    picture("u2", "YnllIQ==");
    picture("u3", &"A".repeat(3 << 20));
    assert_eq!(talk.event("Stop", &[]), 0);
    assert_eq!(talk.event("SessionEnd", &[]), 0);
    picture("u4", "aW1wb3J0");
    import(&stage, "claude --all");
    let mut pictures: Vec<(Value, Option<String>)> = Vec::new();
    for entry in stage.bound_entries("fix-cart").iter().filter(|it| it["kind"] == "image") {
        let image = &entry["meta"]["image"];
        assert_eq!(image["media"], "image/png");
        let kept = image["object"]["/"].as_str().map(|cid| {
            let object = stage.agentic("shop", &format!("object get {cid}"));
            let object: Value = serde_json::from_str(&object).expect("JSON");
            assert_eq!((&object["unredacted"], &object["type"]), (&json!(true), &json!("picture")));
            object["data"].to_string()
        });
        pictures.push((image["bytes"].clone(), kept));
    }
    pictures.sort_by_key(|(bytes, _)| bytes.as_u64());
    let lengths: Vec<Option<u64>> = pictures.iter().map(|(bytes, _)| bytes.as_u64()).collect();
    assert_eq!(lengths, [Some(4), Some(5), Some(6), Some((3 << 20) / 4 * 3)]);
    let kept: Vec<bool> = pictures.iter().map(|(_, kept)| kept.is_some()).collect();
    assert_eq!(kept, [true, false, true, false]);
    assert!(pictures[0].1.as_ref().is_some_and(|data| data.contains("YnllIQ")), "{pictures:?}");
    stage.check();
}

#[test]
fn many_conversations_cost_no_ref_and_little_memory() {
    const FEW: usize = 20;
    const MANY: usize = 200;
    let words = "the quick brown fox jumps over the lazy dog ".repeat(100);
    let (mut peaks, mut names) = (Vec::new(), Vec::new());
    for n_conversations in [FEW, MANY] {
        let stage = CaptureStage::new();
        let shop = stage.folder.join("shop").display().to_string();
        for number in 0..n_conversations {
            let id = format!("{:08x}-aa{number:04}", number * 7_919);
            let line = |n: usize| {
                let line = json!({"type": "user", "uuid": format!("{number}-{n}"), "cwd": shop,
                    "sessionId": id, "timestamp": "2026-11-20T09:00:01.000Z",
                    "message": {"role": "user", "content": words}});
                format!("{line}\n")
            };
            let text: String = (0..20).map(line).collect();
            stage.write(&format!("home/.claude/projects/x/{id}.jsonl"), &text);
        }
        let (peak, ended) = stage.with_peak(&["import", "claude", "--all", "--json"]);
        assert_eq!(ended.exit, 0, "{}", ended.stderr);
        let taken: Value = serde_json::from_str(&ended.stdout).expect("JSON");
        let taken = taken.as_array().expect("a list");
        assert_eq!(taken.len(), n_conversations);
        assert!(taken.iter().all(|it| it["new"] == 20), "{taken:?}");
        names.push(stage.git("shop", "for-each-ref --format=%(refname)"));
        peaks.push(peak);
        let listed: Value =
            serde_json::from_str(&stage.agentic("shop", "archive --list --json")).expect("JSON");
        assert_eq!(listed.as_array().map(Vec::len), Some(n_conversations));
        stage.check();
    }
    assert_eq!(names[0], names[1], "ten times as many have the same refs");
    // What grows is what is told of each, not what was said in them: 88 KB of that each.
    let grown = peaks[1].saturating_sub(peaks[0]);
    println!("peak {} KiB, then {} KiB more", peaks[0] >> 10, grown >> 10);
    let said = ((MANY - FEW) * 20 * words.len()) as u64;
    assert!(grown < said, "{grown} bytes more for {said} bytes of words");
}

#[test]
fn an_import_needs_little_memory() {
    let stage = CaptureStage::new();
    let shop = stage.folder.join("shop").display().to_string();
    let path = stage.folder.join("home/.claude/projects/x/3f2a91c0-aa.jsonl");
    fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
    let mut file = std::io::BufWriter::new(fs::File::create(&path).expect("writable"));
    // Many lines, then a long one, and one that is longer than any that is read.
    let words = "the quick brown fox jumps over the lazy dog ".repeat(50);
    for number in 0..12_000 {
        let line = json!({"type": "user", "uuid": format!("u{number}"), "cwd": shop,
            "timestamp": "2026-11-20T09:00:01.000Z", "message": {"role": "user", "content": words}});
        writeln!(file, "{line}").expect("writable");
    }
    for megabytes in [2_usize, 300] {
        let piece = "x".repeat(1 << 20);
        write!(file, "{{\"type\":\"user\",\"uuid\":\"long-{megabytes}\",\"toolUseResult\":\"")
            .expect("writable");
        for _ in 0..megabytes {
            file.write_all(piece.as_bytes()).expect("writable");
        }
        writeln!(file, "\"}}").expect("writable");
    }
    drop(file);
    let small = json!({"type": "user", "uuid": "v", "cwd": shop, "timestamp": "2026-11-20T09:00:01.000Z",
        "message": {"role": "user", "content": "Hello"}});
    stage.write("home/.claude/projects/x/4f2a91c0-bb.jsonl", &format!("{small}\n"));
    let import = |name: &str| {
        let file = stage.folder.join(format!("home/.claude/projects/x/{name}.jsonl"));
        let (peak, ended) = stage.with_peak(&["import", &file.display().to_string(), "--json"]);
        assert_eq!(ended.exit, 0, "{}", ended.stderr);
        let taken: Value = serde_json::from_str(&ended.stdout).expect("JSON");
        (peak, taken[0]["new"].clone())
    };
    let (least, new) = import("4f2a91c0-bb");
    assert_eq!(new, 1);
    let (peak, new) = import("3f2a91c0-aa");
    assert_eq!(new, 12_002);
    // What this program has loaded before it reads anything is not what an import needs.
    println!("peak {} MiB, {} MiB of a small one", peak >> 20, least >> 20);
    assert!(peak - least < MEMORY_MAX, "{peak} bytes, {least} of a small one");
    assert!(files(&stage.folder.join("shop/.git/agentic")).len() < 1000);
}
