/** What a simulated pod does, and when: read from its annotations, or from simple commands. */
import type { Container, Pod } from '../../apis/kubernetes/pod.ts';
import { parseDuration } from './duration.ts';

export const RUN_FOR = 'spindrift.dev/run-for';
export const EXIT_CODE = 'spindrift.dev/exit-code';
export const START_AFTER = 'spindrift.dev/start-after';
export const READY_AFTER = 'spindrift.dev/ready-after';
export const STOP_AFTER = 'spindrift.dev/stop-after';

/** Delays of pods that do not specify their own. */
export interface PodDelays {
  /** From the binding to the start of the containers. */
  readonly startMs: number;
  /** From the start of a container until it is ready. */
  readonly readyMs: number;
  /** From the stop request until the process has ended. */
  readonly stopMs: number;
}

export const NO_DELAYS: PodDelays = { startMs: 0, readyMs: 0, stopMs: 0 };

export interface ContainerScript {
  /** Infinity for a process that does not end by itself. */
  readonly runForMs: number;
  readonly exitCode: number;
}

export interface PodScript extends PodDelays {
  /** In the order of the spec. */
  readonly containers: readonly ContainerScript[];
  readonly initContainers: readonly ContainerScript[];
}

const FOREVER: ContainerScript = { runForMs: Number.POSITIVE_INFINITY, exitCode: 0 };
const AT_ONCE: ContainerScript = { runForMs: 0, exitCode: 0 };

/** Reads the script of a pod. */
export function podScript(pod: Pod, delays: PodDelays): PodScript {
  const { annotations = {} } = pod.metadata;
  const runForMs = parseDuration(annotations[RUN_FOR]);
  const exitCode = annotations[EXIT_CODE] === undefined ? undefined : Number(annotations[EXIT_CODE]) || 0;
  const told = (container: Container): ContainerScript => {
    const own = commandScript(container) ?? (exitCode === undefined ? FOREVER : AT_ONCE);
    return { runForMs: runForMs ?? own.runForMs, exitCode: exitCode ?? own.exitCode };
  };
  return {
    startMs: parseDuration(annotations[START_AFTER]) ?? delays.startMs,
    readyMs: parseDuration(annotations[READY_AFTER]) ?? delays.readyMs,
    stopMs: parseDuration(annotations[STOP_AFTER]) ?? preStopMs(pod) + delays.stopMs,
    containers: pod.spec.containers.map(told),
    initContainers: (pod.spec.initContainers ?? []).map((container) =>
      container.restartPolicy === 'Always' ? FOREVER : (commandScript(container) ?? AT_ONCE),
    ),
  };
}

/** How long the preStop hooks take before processes are asked to stop; the hooks run in parallel. */
function preStopMs({ spec }: Pod): number {
  const times = spec.containers.map(({ lifecycle }) => {
    const { sleep, exec } = lifecycle?.preStop ?? {};
    return sleep === undefined ? (commandScript(exec ?? {})?.runForMs ?? 0) : sleep.seconds * 1000;
  });
  return Math.max(0, ...times);
}

/** Interprets sequences of `sleep`, `true`, `false`, `exit` and `echo`; undefined for anything else. */
export function commandScript(container: Pick<Container, 'command' | 'args'>): ContainerScript | undefined {
  const words = [...(container.command ?? []), ...(container.args ?? [])];
  if (words.length === 0) return undefined;
  const [program = '', flag = ''] = words;
  const isShell = /^(.*\/)?(sh|bash|ash)$/.test(program) && /^-[a-z]*c$/.test(flag);
  const steps = isShell
    ? words
        .slice(2)
        .join(' ')
        .split(/;|&&|\n/)
    : [words.join(' ')];
  let runForMs = 0;
  let exitCode = 0;
  for (const step of steps.map((text) => text.trim()).filter((text) => text !== '')) {
    const [name = '', argument] = step.split(/\s+/);
    switch (name.replace(/^.*\//, '')) {
      case 'sleep': {
        const duration = argument === 'infinity' ? Number.POSITIVE_INFINITY : parseDuration(argument);
        if (duration === undefined) return undefined;
        runForMs += duration;
        exitCode = 0;
        break;
      }
      case 'echo':
      case 'true':
        exitCode = 0;
        break;
      case 'false':
        exitCode = 1;
        break;
      case 'exit':
        return { runForMs, exitCode: Number(argument ?? exitCode) || 0 };
      default:
        return undefined;
    }
  }
  return { runForMs, exitCode };
}
