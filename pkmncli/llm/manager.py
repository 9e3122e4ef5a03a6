"""Language models as classes of the user: given a situation in words, they return an action.

A subclass of :class:`BaseLLMManager` is also a backend: a plugin can register it among ``llm_backends``.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pkmncli.api import Advice, LLMBackend, LLMFailure, LLMFault, LLMReply, LLMRequest
from pkmncli.declared import action_names_of, skills_of
from pkmncli.errors import PkmnError
from pkmncli.llm.deadlines import call_within
from pkmncli.llm.loading import Loading
from pkmncli.llm.replies import PRESS, ReplyForm
from pkmncli.llm.transport import checked_reply

if TYPE_CHECKING:
    from pydantic import BaseModel

SURE_BY_DEFAULT = 0.5
"""Confidence of a manager's action if it gives none."""


class BaseLLMManager(ABC):
    """Language model of your own: write :meth:`get_action`.

    Args:
        settings: instance of the settings class that was registered with it; None without one.
        model: the model chosen with ``llm_model``.
    """

    model: str = ""
    sees: bool = False
    form: ReplyForm | None = None
    """Form of the replies; None for that of the default environment and pilot."""

    def __init__(self, settings: BaseModel | None = None, model: str | None = None) -> None:
        self.settings = settings
        self.model = model or type(self).__name__

    @abstractmethod
    def get_action(self, context: str) -> tuple[int, dict[str, Any]]:
        """Return an action for a situation.

        Args:
            context: the situation in words: goal, state, map, what happened, and what can be done.

        Returns:
            An action, by its number in the action mask; and ``confidence`` (0..1), ``reason`` and ``source``, as far
            as they are known.
        """

    def parse_action(self, response: str) -> int:
        """Return the action that a model's words name, in JSON or prose; the idle action if they name none."""
        form = self.reply_form()
        return _first_action(form, form.read(LLMReply(response, self.model), expires_after=1, words_too=True).advice)

    def reply_form(self) -> ReplyForm:
        """Return the form of the replies, and keep it."""
        if self.form is None:
            self.form = _default_form()
        return self.form

    # What makes it a backend ---------------------------------------------------------------------------------------

    def check(self) -> str:
        """Return a line that names the model. Override it to connect; raise ``LLMConnectionError`` if that fails."""
        return f"Advice: {self.model or type(self).__name__}."

    def complete(self, request: LLMRequest) -> LLMReply:
        """Return the action of :meth:`get_action` as advice of one action."""
        name = type(self).__name__
        try:
            action, metadata = call_within(lambda: self.get_action(request.prompt), request.timeout_s)
        except LLMFailure:
            raise
        except TimeoutError as error:
            raise LLMFailure(LLMFault.TIMEOUT, f"{name} did not answer within {request.timeout_s:g} s") from error
        except OSError as error:
            raise LLMFailure(LLMFault.UNREACHABLE, f"{name}: its service can't be reached") from error
        except Exception as error:  # the user's class may raise anything; its message may have a key
            raise LLMFailure(LLMFault.BROKEN, f"{name}.get_action raised {type(error).__name__}") from error
        names = self.reply_form().actions.names
        if isinstance(action, bool) or not isinstance(action, int) or not 0 <= action < len(names):
            raise LLMFailure(LLMFault.BROKEN, f"{name}.get_action returned no action, which are 0 to {len(names) - 1}")
        values: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
        reason = str(values.get("reason", ""))
        advice = {
            "goal": reason[:200] or f"what {name} says",
            "skill": PRESS,
            "presses": [names[action]],
            "confidence": values.get("confidence", SURE_BY_DEFAULT),
            "reason": reason,
        }
        return checked_reply(
            name,
            json.dumps(advice, default=str),
            values.get("source") or self.model or name,
            values.get("prompt_tokens"),
            values.get("completion_tokens"),
            latency_s=0.0,
            parsed=advice,
        )

    def models(self) -> list[str]:
        """Return the models that could be asked; by default only the model of this object."""
        return [self.model] if self.model else []

    def close(self) -> None:  # noqa: B027 - only a subclass has resources
        """Release resources."""


class LLMManager(BaseLLMManager):
    """Manager that asks a backend, and returns the first action of its advice.

    Args:
        backend: of any plugin, as :meth:`named` builds one.
        timeout_s: maximum seconds for an answer.
        load_timeout_s: maximum seconds for the first answer, while the model is loaded; None for the same time.
    """

    def __init__(self, backend: LLMBackend, *, timeout_s: float = 30.0, load_timeout_s: float | None = None) -> None:
        super().__init__(None, backend.model)
        self.choice: dict[str, Any] = {}
        """Settings by which :meth:`named` chose the backend; empty for one that was passed."""
        self._backend = backend
        self._timeout_s = timeout_s
        self._loading = Loading(load_timeout_s)

    @classmethod
    def named(cls, llm: str | None = None, llm_model: str | None = None, **settings: Any) -> LLMManager:
        """Return the manager of a backend, by its name or its model's name.

        Args:
            llm: the backend's name.
            llm_model: the model; without ``llm`` it chooses the backend that serves it.
            settings: other settings of a training, and a plugin's by ``section.key`` (in a dictionary: ``**{...}``).

        Raises:
            ConfigurationError: there is no such backend or setting.
        """
        from pkmncli.config import resolve_settings  # noqa: PLC0415 - only where a backend is looked up
        from pkmncli.plugins import get_registry  # noqa: PLC0415

        registry = get_registry()
        chosen = resolve_settings({"llm": llm, "llm_model": llm_model, **settings}, registry=registry)
        entry = registry.get("llm_backends", chosen.train.llm)
        own = chosen.for_part(entry)
        train = chosen.train
        backend = entry.load()(own, train.llm_model)
        manager = cls(backend, timeout_s=train.llm_timeout_s, load_timeout_s=train.llm_load_time_s)
        manager.choice = {"llm": entry.name, "llm_model": train.llm_model, **settings}
        return manager

    def get_action(self, context: str) -> tuple[int, dict[str, Any]]:
        """Ask for advice. If there is none, ``error`` has the reason, and the confidence is 0."""
        form = self.reply_form()
        time_s = self._loading.time_for(self._timeout_s)
        try:
            reply = self._backend.complete(LLMRequest("", context, form.schema, timeout_s=time_s))
            self._loading.answered()
        except LLMFailure as failure:
            if failure.fault in (LLMFault.TIMEOUT, LLMFault.LOADING):
                self._loading.late(time_s)
            return form.actions.idle_action, {
                "source": self.model,
                "confidence": 0.0,
                "reason": "",
                "error": str(failure),
            }
        read = form.read(reply, expires_after=1, words_too=True)
        advice = read.advice
        if advice is None:
            return form.actions.idle_action, {
                "source": reply.model,
                "confidence": 0.0,
                "reason": "",
                "error": read.problem,
            }
        return _first_action(form, advice), {
            "source": reply.model,
            "confidence": advice.confidence,
            "reason": advice.reason,
            "goal": advice.goal,
            "skill": advice.skill,
            "latency_s": reply.latency_s,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
        }

    def check(self) -> str:
        """Connect once, and find the model."""
        line = self._backend.check()
        self.model = self._backend.model
        return line

    def complete(self, request: LLMRequest) -> LLMReply:
        """Return the backend's reply, with all of its advice."""
        return self._backend.complete(request)

    def models(self) -> list[str]:
        """Return the backend's models."""
        return self._backend.models()

    def close(self) -> None:
        """Close the backend."""
        self._backend.close()


def _first_action(form: ReplyForm, advice: Advice | None) -> int:
    """Return the first action of advice, or the action that stands for its skill."""
    if advice is not None and advice.presses:
        return advice.presses[0]
    named = [skill.action for skill in form.skills if advice is not None and skill.name == advice.skill]
    return form.actions.names.index(named[0]) if named and named[0] else form.actions.idle_action


def _default_form() -> ReplyForm:
    """Return the form of replies about the default environment and pilot, as their classes declare it."""
    from pkmncli.config.train_settings import TrainSettings  # noqa: PLC0415 - only where no form is given
    from pkmncli.plugins import get_registry  # noqa: PLC0415

    registry, fields = get_registry(), TrainSettings.model_fields
    try:
        environment = registry.get("environments", fields["env"].default).load()
        pilot = registry.get("pilots", fields["pilot"].default).load()
    except PkmnError:  # such as a disabled plugin: then nothing is declared
        return ReplyForm()
    return ReplyForm(skills_of(pilot), action_names_of(environment))
