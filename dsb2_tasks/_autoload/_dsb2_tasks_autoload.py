"""Lets a bare ``lm_eval`` find the tasks and models of dsb2-tasks.

Python runs :func:`install` at every start of every program in this environment (see ``dsb2_tasks.pth`` and
``dsb2_tasks.start`` beside it), so this file imports nothing that is not loaded already, does nothing until lm-eval
itself is imported, and never raises.  What is then done stands in ``dsb2_tasks.plugin``.

``DSB2_NO_AUTOLOAD=1`` switches it off.
"""

import os
import sys

# Module of lm-eval -> the function of dsb2_tasks.plugin that is called once it has been imported.
_AFTER = {"lm_eval.models": "register_models", "lm_eval.tasks.manager": "add_tasks"}

# Names being looked for: another plugin's finder may ask the others in turn, us among them.
_asking: set = set()


def _run(name, module):
    try:
        from dsb2_tasks import plugin

        getattr(plugin, _AFTER[name])(module)
    except (Exception, SystemExit) as error:
        if sys.stderr is not None:
            print(
                f"dsb2-tasks: could not extend {name}: {type(error).__name__}: {error} "
                "(reinstall dsb2-tasks, or set DSB2_NO_AUTOLOAD=1 to do without it)",
                file=sys.stderr,
            )


class _Loader:
    """Stands in for the loader of one module until it has run it."""

    def __init__(self, name, loader):
        self._name, self._loader = name, loader

    def __getattr__(self, attribute):
        return getattr(self._loader, attribute)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _run(self._name, module)


class _Finder:
    """Finds what the other finders find, and for two modules of lm-eval puts a :class:`_Loader` in front."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name not in _AFTER or name in _asking:
            return None
        _asking.add(name)
        try:
            return cls._find(name, path, target)
        finally:
            _asking.discard(name)

    @classmethod
    def _find(cls, name, path, target):
        for finder in sys.meta_path:
            find = None if finder is cls else getattr(finder, "find_spec", None)
            spec = find and find(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(name, spec.loader)
                return spec
        return None


def install():
    """Puts the finder in front of the import system, once, unless it is switched off."""
    if os.environ.get("DSB2_NO_AUTOLOAD", "0") in ("", "0") and _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
