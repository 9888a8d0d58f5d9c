import type { Clock } from '../../platform/clock.ts';
import { SpindriftError } from '../../platform/errors.ts';
import type { Random } from '../../platform/random.ts';
import type { AskMetadata } from '../metadata/ask-metadata.ts';

/** A metadata service with random faults: it hangs, refuses, fails, or breaks off in the middle of an answer. */
export function erringMetadata(ask: AskMetadata, clock: Clock, random: Random, share: number): AskMetadata {
  return async (request) => {
    if (random.next() >= share) return ask(request);
    switch (random.below(6)) {
      case 0:
        await clock.sleep(request.timeoutMs, request.signal);
        throw new SpindriftError('DEADLINE_EXCEEDED', { milliseconds: request.timeoutMs });
      case 1:
        throw new Error('connect ECONNREFUSED');
      case 2:
        return { status: 401, headers: {}, body: 'Unauthorized' };
      case 3:
        return { status: 403, headers: {}, body: 'Forbidden' };
      case 4:
        return { status: 500, headers: {}, body: '{"action":"terminate","time":"2030-01-01T00:00:00Z"}' };
      default: {
        const answer = await ask(request);
        return { ...answer, body: answer.body.slice(0, random.below(Math.max(1, answer.body.length))) };
      }
    }
  };
}
