"""Copies are put back to what they were right after their import."""

from unit.frontends.real.booting import boot

from presage.frontends.real.isolate import Isolation


def test_caches_that_were_filled_while_imported_come_back(library) -> None:
    text = """
        import functools
        @functools.lru_cache(maxsize=None)
        def all_of(n):
            return [n]
        @functools.lru_cache(maxsize=4)
        def some(n):
            return [n]
        FIRST = all_of(1), some(1)
        """
    isolation = Isolation(path=(library({"memo.py": text}),))
    for spoils in (False, True, False, False, True, False):
        copy, module = boot(isolation, "memo")
        assert module.FIRST == ([1], [1])
        assert (module.all_of(1), module.some(1)) == module.FIRST
        assert module.all_of(1) is module.FIRST[0] and module.some(1) is module.FIRST[1]
        assert module.all_of.cache_info().currsize == module.some.cache_info().currsize == 1
        module.all_of(1).append(2)
        module.some(1).append(2)
        module.all_of(2)
        if spoils:
            module.some(2)
        isolation.give_back(copy)
        isolation.recycle()
    assert isolation.executed == 4


def test_a_context_that_is_open_since_the_import_stays_so(library) -> None:
    text = """
        import contextlib
        @contextlib.contextmanager
        def opened():
            held = [1]
            yield held
        CONTEXT = opened()
        HELD = CONTEXT.__enter__()
        """
    isolation = Isolation(path=(library({"ctx.py": text}),))
    for ends in (False, False, True, False):
        copy, module = boot(isolation, "ctx")
        assert module.HELD == [1]
        module.HELD.append(2)
        if ends:
            module.CONTEXT.__exit__(None, None, None)
        isolation.give_back(copy)
        isolation.recycle()
    assert isolation.executed == 3


def test_an_object_that_cannot_be_saved_makes_copies_single_use(library) -> None:
    isolation = Isolation(path=(library({"gen.py": "g = (i for i in range(9))\n"}),))
    for _ in range(3):
        copy, module = boot(isolation, "gen")
        assert next(module.g) == 0
        isolation.give_back(copy)
        isolation.recycle()
    assert any("range_iterator" in why for why in isolation.spoilt)


def test_a_slot_that_a_derived_class_hides_is_put_back(library) -> None:
    """As `pathlib` of Python 3.13 does it: modules often hold a path."""
    text = """
        import pathlib
        class Base:
            __slots__ = ("value", "unset")
        class Hidden(Base):
            __slots__ = ()
            value = property(lambda self: Base.value.__get__(self))
        hidden, here = Hidden(), pathlib.Path(__file__)
        Base.value.__set__(hidden, 1)
        """
    isolation = Isolation(path=(library({"hides.py": text}),))
    for _ in range(4):
        copy, module = boot(isolation, "hides")
        assert module.hidden.value == 1 and not hasattr(module.hidden, "unset")
        module.Base.value.__set__(module.hidden, 2)
        module.hidden.unset = str(module.here / "..")
        isolation.give_back(copy)
        isolation.recycle()
    assert isolation.executed == 2


def test_a_namespace_is_put_back(library) -> None:
    text = """
        from types import SimpleNamespace
        class Own(SimpleNamespace):
            pass
        plain, own = SimpleNamespace(kept=[1]), Own(kept=[1])
        """
    isolation = Isolation(path=(library({"spaces.py": text}),))
    for _ in range(4):
        copy, module = boot(isolation, "spaces")
        for space in (module.plain, module.own):
            assert vars(space) == {"kept": [1]}
            space.kept.append(2)
            space.more = 3
        isolation.give_back(copy)
        isolation.recycle()
    assert isolation.executed == 2  # by the first, which tells what is shared, and by the second
