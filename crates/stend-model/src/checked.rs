//! What was checked of a repeat's work, and what was found. These are facts, as [causes](crate::cause) are.

#![allow(missing_docs, reason = "the fields are named after what they hold, and the variants say the rest")]

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::cause::fact;

/// What an instrument says of its check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Checks {
    /// Facts, of `stend`'s own instruments and adapters.
    Facts(#[schemars(schema_with = "facts")] Vec<Checked>),
    /// In the instrument's own words.
    Said(String),
}

fn facts(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": fact(generator) })
}

impl Default for Checks {
    fn default() -> Self {
        Self::Facts(Vec::new())
    }
}

impl From<Vec<Checked>> for Checks {
    fn from(facts: Vec<Checked>) -> Self {
        Self::Facts(facts)
    }
}

impl Checks {
    /// The facts; none of what is said in words.
    pub fn facts(&self) -> &[Checked] {
        match self {
            Self::Facts(facts) => facts,
            Self::Said(_) => &[],
        }
    }
}

/// One thing that was checked. `said` quotes what a program said, and is empty where nothing was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "check", rename_all = "snake_case")]
pub enum Checked {
    // Ciphers.
    /// The cipher against the vectors of its standard.
    RfcVector,
    /// So many bytes from the start, blocks behind them, keys and tags against another backend; 0 where there are
    /// none.
    Backend {
        backend: String,
        bytes: u64,
        blocks: u64,
        keys: u64,
        tags: u64,
    },
    /// That by a digest that an earlier repeat made.
    ByDigest,

    // Copies, pipes, switches, FizzBuzz.
    /// All bytes of the target against the source.
    Target {
        bytes: u64,
    },
    /// The sum of the words of every pass over so many bytes.
    SumOfWords {
        bytes: u64,
    },
    /// All bytes against what the last pass stored.
    LastPass {
        bytes: u64,
    },
    /// Every byte.
    EveryByte {
        bytes: u64,
    },
    /// The count of the bytes, and some of them.
    Count {
        bytes: u64,
        and: And,
    },
    /// So many bytes in full, before what was measured.
    FullBefore {
        bytes: u64,
    },
    /// So many words are wrong.
    Corrupt {
        wrong: u64,
        words: u64,
        when: When,
    },
    /// Other bytes arrived than were sent.
    Unequal {
        sent: u64,
        arrived: u64,
        when: When,
    },
    /// Both sides counted.
    Counted {
        here: u64,
        there: u64,
    },
    /// A side was woken out of turn.
    OutOfTurn,
    /// The first wrong byte, what it is and should be, and how many are wrong.
    WrongFrom {
        byte: u64,
        line: u64,
        had: u64,
        wanted: u64,
        wrong: u64,
        bytes: u64,
    },
    /// The bytes are right, and not so many as they should be.
    OtherLength {
        bytes: u64,
        wanted: u64,
    },
    NothingCame,

    // OpenSSL and compressors.
    /// Nothing that the openssl command can compute is known of the algorithm.
    NoKnownAnswer {
        algorithm: String,
    },
    /// It computes a published answer: a vector of `sp-800-38a`, `cavp-gmac`, `rfc-6229` or `gost-34-13`, or of another standard the digest
    /// of `abc`.
    AnswerRight {
        vector: String,
    },
    /// The openssl command cannot compute it.
    AnswerImpossible {
        vector: String,
    },
    AnswerWrong {
        vector: String,
        right: String,
        computed: String,
    },
    /// What pages that were compressed and decompressed have, and should have.
    Decompressed {
        sha256: String,
        pages_sha256: String,
    },
    /// What gzip's trailer says, and what the pages have. Only old runs have it.
    GzipTrailer {
        crc32: String,
        bytes: u32,
        pages_crc32: String,
        pages_bytes: u32,
    },

    // Servers.
    /// All responses, of which one had this status and body; `errors` are connections that failed, and other statuses than 2xx and 3xx.
    HttpResponses {
        responses: u64,
        status: u64,
        body: u64,
        bytes: u64,
        errors: u64,
        sha256: String,
    },

    /// TLS connections, and of how many the handshake was of either kind.
    Handshakes {
        connections: u64,
        new: u64,
        resumed: u64,
    },

    // Test suites.
    /// What the tests came to.
    TestsCame {
        passed: u64,
        failed: u64,
        skipped: u64,
    },
    /// The suite planned other tests than it told of; `program` is the one of several that did.
    TestsUnlikePlan {
        program: String,
        planned: u64,
        told: u64,
        said: String,
    },
    /// The suite did not say how many tests there were to be, or that these were all.
    TestsWithoutEnd,
    /// The suite gave up.
    TestsGivenUp {
        said: String,
    },
    /// It stopped at the first program of which a test failed.
    TestsStoppedAtFailure,
    /// A file with results cannot be read to its end.
    TestsFileCut {
        file: String,
        said: String,
    },
    /// A signal ended the suite.
    TestsKilled {
        signal: i32,
    },

    // fio.
    /// What one direction did. `block`: how large each operation was.
    FioCounts {
        direction: String,
        operations: f64,
        bytes: f64,
        block: Option<u64>,
        short: f64,
        dropped: f64,
    },
    /// So many operations may have spanned the end of the ramp, and be in one of the counts alone.
    RampSpanned {
        operations: f64,
    },
    /// So many bytes of those written were read back with the repeat's own marks.
    ReadBack {
        bytes: f64,
        written: f64,
    },
    /// Only counts were compared.
    CountsOnly,
    /// It worked for a shorter time than it was to, in milliseconds.
    TooShort {
        ms: f64,
        wanted_ms: f64,
    },
    Loops {
        bytes: f64,
        wanted: f64,
        loops: u32,
    },
    /// Operations a second, and how many were asked for. `open`: none waited for others.
    Rate {
        reached: f64,
        asked: f64,
        open: bool,
    },
    /// Other data were read than were written.
    DataWrong {
        job: String,
        said: String,
    },
    /// What stands there instead.
    Stands {
        file: String,
        offset: u64,
        what: Stood,
    },
    /// Other data stand at so many more places.
    MoreStand {
        places: usize,
    },

    // What is left after a pool has failed. `places`: one `LostIn` for each LUN, of some.
    LostAsExpected {
        bytes: u64,
        acknowledged: u64,
        places: Vec<Checked>,
    },
    NoneLost {
        acknowledged: u64,
    },
    FlushedLost {
        bytes: u64,
        flushed: u64,
        places: Vec<Checked>,
    },
    FlushedThere {
        bytes: u64,
    },
    /// What was acknowledged, and not flushed, is gone in part.
    UnflushedLost {
        bytes: u64,
        unflushed: u64,
    },
    PoolUnmountable {
        said: String,
    },
    /// So many bytes of a LUN are lost, between these offsets.
    LostIn {
        lun: usize,
        bytes: u64,
        first: u64,
        end: u64,
    },
    /// There are more such LUNs.
    MoreLost,
}

/// Of which part of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Of what was measured.
    Measured,
    /// Of what was done before that, to look at all of it.
    Before,
}

/// Which of the bytes were looked at beside their count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum And {
    Nothing,
    /// A word of each 4096 bytes.
    Words,
    /// 4096 bytes of each MiB.
    Blocks,
}

/// What stands in a block where something else was to stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "stood", rename_all = "snake_case")]
pub enum Stood {
    /// It cannot be read.
    Unreadable,
    /// Only a part of the block.
    Part,
    /// What a repeat of a run wrote, to this LUN and offset.
    Written {
        run: String,
        repeat: String,
        lun: String,
        offset: u64,
    },
    /// Some bits of the block turned over, the first in this byte.
    BitsTurned {
        bits: u32,
        first: u64,
    },
    Zeros,
    /// Other bytes, of which the first are given in hexadecimal.
    Bytes {
        hex: String,
    },
}
