//! The simplest register: a server keeps one value and answers at once.

use std::borrow::Cow;

use stateright::actor::register::RegisterMsg;
use stateright::actor::{Actor, Id, Out};

use crate::register::{NOTHING, Wire};

#[derive(Clone)]
pub struct Server;

impl Actor for Server {
    type Msg = Wire<()>;
    type State = char;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> char {
        NOTHING
    }

    fn on_msg(
        &self,
        _: Id,
        kept: &mut Cow<char>,
        source: Id,
        message: Self::Msg,
        out: &mut Out<Self>,
    ) {
        match message {
            RegisterMsg::Put(request, value) => {
                *kept = Cow::Owned(value);
                out.send(source, RegisterMsg::PutOk(request));
            }
            RegisterMsg::Get(request) => out.send(source, RegisterMsg::GetOk(request, **kept)),
            _ => {}
        }
    }
}
