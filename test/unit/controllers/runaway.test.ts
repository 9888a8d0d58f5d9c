import { expect, it } from 'vitest';
import { oneHourOf, TROUBLES } from './testkit/runaway.ts';

it.each(TROUBLES.map((trouble) => [trouble.name, trouble] as const))(
  'launches few machines for %s',
  async (_, trouble) => {
    const outcome = await oneHourOf(trouble);
    expect(outcome.machines).toBeLessThan(200);
  },
);
