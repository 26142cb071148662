"""How seals are declared, and what is refused at once."""

from dataclasses import dataclass

import pytest

from presage import Seal, Service, System, always, on
from presage.errors import BadProperty, BadSeal, UnknownNode


@dataclass(frozen=True)
class Base:
    pass


@dataclass(frozen=True)
class Prepare(Base):
    pass


class Node(Service):
    @on(Prepare)
    def prepare(self, message):
        pass


def busy(world):
    return bool(world.messages())


def system(*seals, **nodes):
    return System(nodes or {"a": Node(), "b": Node()}, seals=seals)


def test_a_seal_reads_as_what_it_assumes():
    assert str(Seal(when=busy, only=Prepare)) == "while busy: only Prepare"
    several = Seal(when=busy, only=(Prepare, "timer", "a"), first=True, name="calm")
    assert str(several) == "while calm: only the first of Prepare or timer or a"
    assert (several.types, several.kinds, several.nodes) == ((Prepare,), ("timer",), ("a",))
    assert Seal(when=always(busy), only="mail").name == "busy"


def test_one_seal_need_not_stand_in_a_list():
    seal = Seal(when=busy, only=Base)  # what a class is derived from names it, too
    assert System({"a": Node()}, seals=seal).seals == (seal,)


def test_what_cannot_be_a_condition_is_refused():
    with pytest.raises(BadProperty, match="a lambda given to `seal` has no name"):
        Seal(when=lambda world: True, only="mail")
    with pytest.raises(BadProperty, match="cannot be called"):
        Seal(when=3, only="mail")
    with pytest.raises(BadProperty, match="cannot be called as a property `seal`"):
        Seal(when=lambda before, after: True, only="mail", name="two")


def test_what_only_cannot_name_is_refused():
    with pytest.raises(BadSeal, match=r"`only` holds Prepare\(\)"):
        Seal(when=busy, only=Prepare())
    with pytest.raises(BadSeal, match="`only` is empty"):
        Seal(when=busy, only=())
    with pytest.raises(UnknownNode, match="there is no node 'c'"):
        system(Seal(when=busy, only=("mail", "c")))
    with pytest.raises(UnknownNode, match="did you mean `timer`"):
        system(Seal(when=busy, only="timers"))
    with pytest.raises(BadSeal, match="no node handles messages of the class `Node`"):
        system(Seal(when=busy, only=Node))
    with pytest.raises(BadSeal, match="a node is called `mail`"):
        system(Seal(when=busy, only="mail"), mail=Node())


def test_what_is_no_seal_or_has_the_name_of_another_is_refused():
    with pytest.raises(BadSeal, match="which is not a seal"):
        system(busy)
    with pytest.raises(BadSeal, match="two seals are called `busy`"):
        system(Seal(when=busy, only="mail"), Seal(when=busy, only="timer"))
