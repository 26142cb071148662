//! Numbers and texts that both languages use: each is defined here, and Python imports it.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyTuple};

/// Constants from 0 on, and a table of their names in Python with what people call them.
macro_rules! numbered {
    ($kind:ident $table:ident: $($name:ident $text:literal),*) => {
        #[allow(clippy::upper_case_acronyms, non_camel_case_types)]
        enum $kind { $($name),* }
        $(#[allow(dead_code)] // Python may be the only one to use it
        pub const $name: usize = $kind::$name as usize;)*
        pub const $table: &[(&str, &str)] = &[$((stringify!($name), $text)),*];
    };
}

numbered!(Fault FAULTS: CRASH "crash", RESTART "restart", DROP "drop", DUPLICATE "duplicate",
    RESET "reset", SILENT "silent_reset", CUT "cut", IDLE "idle_close", PARTITION "partition",
    HEAL "heal", SLOWED "slow", SEVER "sever", REFUSE "refuse", TERMINATE "terminate");

// Of a node; a slow one is up but takes no step.
numbered!(NodeStatus STATUSES: DOWN "down", UP "up", FAILED "failed", SLOW "slow");
/// The statuses of a node that runs, the second slowly.
pub const RUNNING: [usize; 2] = [UP, SLOW];

// What can happen next, faults aside, in the canonical order.
numbered!(Ordinary ORDINARY: DELIVER "deliver", RECEIVE "receive", BROKEN "broken",
    REFUSED "refused", KEEPALIVE "keepalive", TIMER "timer", ACTION "action", CALL "call",
    WRITE "write", WAKE "wake");

// What a process asks of the world; see `processes/op.rs` for the arguments.
numbered!(Opcode OPCODES: EXIT "Exit", FAIL "Fail", SEND "Send", RECV "Recv", WAIT "WaitAny",
    TEST "TestAny", PROBE "Probe", CANCEL "Cancel", CHOOSE "Choose", SLEEP "Sleep",
    CREATE "Create", JOIN "Join", KILL "Kill", PUBLISH "Publish", PICK "Pick", POLL "Poll");

/// What ended an exploration before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    Violation,
    /// An execution ended well, and one was looked for.
    Passed,
    Depth,
    States,
    Runs,
    Spins,
    Seconds,
    Memory,
    Delays,
    Interrupt,
    /// A part that others were to do did not come back.
    Lost,
}

impl StopReason {
    const ALL: [StopReason; 11] = [
        StopReason::Violation,
        StopReason::Passed,
        StopReason::Depth,
        StopReason::States,
        StopReason::Runs,
        StopReason::Spins,
        StopReason::Seconds,
        StopReason::Memory,
        StopReason::Delays,
        StopReason::Interrupt,
        StopReason::Lost,
    ];

    /// The enum in Python, whose members are texts: they stand in reports as they are.
    fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
        static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let class = CLASS.get_or_try_init(py, || {
            let names = Self::ALL.map(|reason| format!("{reason:?}"));
            let members = names.map(|name| (name.to_uppercase(), name.to_lowercase()));
            let module = [("module", "presage._core")].into_py_dict(py)?;
            let made = py.import("enum")?.getattr("StrEnum")?;
            let made = made.call(("StopReason", members), Some(&module))?;
            PyResult::Ok(made.unbind())
        })?;
        Ok(class.bind(py))
    }
}

impl<'py> IntoPyObject<'py> for StopReason {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Self::class(py)?.getattr(format!("{self:?}").to_uppercase())
    }
}

/// Put all of them into the module.
pub fn export(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("StopReason", StopReason::class(py)?)?;
    for (plural, table) in [
        ("FAULTS", FAULTS),
        ("STATUSES", STATUSES),
        ("ORDINARY", ORDINARY),
        ("OPCODES", OPCODES),
    ] {
        let texts = table.iter().map(|(_, text)| text);
        module.add(plural, PyTuple::new(py, texts)?)?;
        for (number, (name, _)) in table.iter().enumerate() {
            module.add(*name, number)?;
        }
    }
    Ok(())
}
