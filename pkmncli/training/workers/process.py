"""A worker process: one environment and its pilot, and no other Python thread beside the emulator.

The parent sends a message, the worker answers; both formats stand here. A step is a fixed handful of bytes, since it
is what a training consists of; everything else is a call by name.
"""

from __future__ import annotations

import contextlib
import pickle
import struct
import sys
import traceback
from typing import TYPE_CHECKING

from pkmncli.channel import Channel
from pkmncli.child_processes import begin_child, portable
from pkmncli.declared import (
    action_names_of,
    frames_per_second_of,
    phase_roles_of,
    reward_names_of,
    situations_of,
    skills_of,
)
from pkmncli.errors import PkmnError
from pkmncli.outgoing_text import guard_output, redact
from pkmncli.training.workers.shared_memory import FieldLayout, SharedBlock
from pkmncli.training.workers.spec import WorkerSpec
from pkmncli.training.workers.worker import Worker

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from pkmncli.api import Environment

STEP = b"s"
CALL = b"c"
ATTACH = b"a"
QUIT = b"q"
DONE = b"."
RESULT = b"r"
USER_ERROR = b"u"
CRASH = b"e"

STEP_MESSAGE = struct.Struct("<cbBBf")
"""Opcode, action or PILOT_ACTS, slot to write the next observation to, a Source, a confidence."""


def run_worker(connection: Connection, index: int, spec: WorkerSpec) -> None:
    """The main function of a worker process: builds the environment, then answers until told to quit.

    It ends by itself when the parent is gone, however that ended.
    """
    begin_child()
    guard_output()
    environment: Environment | None = None
    try:
        environment = spec.environment_of(index).build()
        pilot = None if spec.pilot is None else spec.pilot.build(environment)
        worker = Worker(index, spec, environment, pilot)
        description = {
            "observation_space": environment.observation_space,
            "action_space": environment.action_space,
            "phase_names": list(environment.phase_names),
            "phase_roles": phase_roles_of(environment),
            "situations": situations_of(environment),
            "action_names": action_names_of(environment, int(environment.action_space.n)),
            "frames_per_second": frames_per_second_of(environment),
            "skills": skills_of(pilot),
            "milestone_names": list(environment.milestone_names),
            "goal": getattr(environment, "goal_name", None),
            "names": dict(environment.names),
            "max_steps_per_episode": environment.max_steps_per_episode,
            "reward_names": reward_names_of(environment),
            "identity": dict(getattr(environment, "identity", {})),
        }
        channel = Channel(connection)
        channel.send(RESULT + pickle.dumps(description))
        _answer(channel, worker)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    except PkmnError as error:
        _last_words(connection, USER_ERROR + pickle.dumps(portable(error)))
    except BaseException:  # a library's own way to leave is none here
        _last_words(connection, CRASH + redact(traceback.format_exc()).encode(errors="backslashreplace"))
    finally:
        if environment is not None:
            environment.close()
        if sys.stdout is not None:
            sys.stdout.flush()


def _last_words(connection: Connection, message: bytes) -> None:
    with contextlib.suppress(OSError):  # nobody may be left to hear it
        connection.send_bytes(message)


def _answer(channel: Channel, worker: Worker) -> None:
    while True:
        message = channel.receive()
        opcode = message[:1]
        if opcode == STEP:
            _opcode, action, slot, source, confidence = STEP_MESSAGE.unpack(message)
            news = worker.step(action, slot, source, confidence)
            channel.send(DONE if news is None else DONE + pickle.dumps(news))
        elif opcode == ATTACH:
            layout: tuple[FieldLayout, ...] = pickle.loads(message[1:])
            channel.send(DONE)  # only then the handle comes, which may not be mixed with other messages
            worker.block = SharedBlock.receive(channel.connection, layout, worker.spec.num_envs)
            channel.send(DONE)
        elif opcode == CALL:
            name, arguments = pickle.loads(message[1:])
            channel.send(RESULT + pickle.dumps(getattr(worker, name)(*arguments)))
        else:
            return
