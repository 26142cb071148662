//! Classes whose instances are never state, and what to say about them.
//!
//! Most would fail anyway, somewhere inside; naming them here puts the blame on the field the
//! user wrote and says why. Classes are known by name, so nothing is imported.

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyType};

const LINK: &str = "it is a link to the world outside; keep it out of the fields of a service";
const LOCK: &str = "it synchronises threads, and handlers run one at a time; leave it out";
const TASK: &str = "it is work in progress, not data; keep what it is working on instead";
const WEAK: &str = "it depends on what else is alive; keep the object or its name";
const CODE: &str = "it is a piece of the running program, not data";
const VIEW: &str = "it is a view of something else; keep a copy, `bytes(...)` or `dict(...)`";

const TABLE: [(&str, &[&str], &str); 18] = [
    ("_socket", &["socket"], LINK),
    (
        "_io",
        &[
            "FileIO",
            "TextIOWrapper",
            "BufferedReader",
            "BufferedWriter",
            "BufferedRandom",
        ],
        LINK,
    ),
    ("_io", &["BufferedRWPair"], LINK),
    ("subprocess", &["Popen"], LINK),
    ("sqlite3", &["Connection", "Cursor"], LINK),
    ("selectors", &["BaseSelector"], LINK),
    ("_thread", &["lock", "RLock", "_local"], LOCK),
    (
        "threading",
        &["Condition", "Event", "Semaphore", "Barrier", "_RLock"],
        LOCK,
    ),
    ("asyncio.mixins", &["_LoopBoundMixin"], LOCK),
    ("threading", &["Thread"], TASK),
    (
        "builtins",
        &["generator", "coroutine", "async_generator", "frame"],
        TASK,
    ),
    ("_asyncio", &["Future"], TASK),
    ("asyncio.futures", &["Future"], TASK),
    ("asyncio.events", &["AbstractEventLoop", "Handle"], TASK),
    ("concurrent.futures._base", &["Future", "Executor"], TASK),
    (
        "weakref",
        &["ReferenceType", "ProxyType", "CallableProxyType"],
        WEAK,
    ),
    ("builtins", &["module", "code", "traceback"], CODE),
    ("builtins", &["memoryview", "mappingproxy"], VIEW),
];

const BARE: &str = "a bare `object()` is known only by its identity, which a copy does not keep; \
                    use `None` or an enum member";

/// Why instances of `class` are refused outright, if they are.
pub fn reason(class: &Bound<'_, PyType>) -> PyResult<Option<String>> {
    if class.is(class.py().get_type::<PyAny>()) {
        return Ok(Some(BARE.into()));
    }
    for ancestor in class.mro().iter() {
        let ancestor = ancestor.cast_into::<PyType>()?;
        let (module, name) = (ancestor.module()?, ancestor.qualname()?);
        let (module, name) = (module.to_str()?, name.to_str()?);
        for (known, names, reason) in &TABLE {
            if module == *known && names.contains(&name) {
                return Ok(Some((*reason).into()));
            }
        }
    }
    Ok(None)
}
