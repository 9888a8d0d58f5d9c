/** What the agent hears from Amazon's own metadata mock. */
import { afterEach, describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { MetadataMock } from '../judges/metadata-mock.ts';

let mock: MetadataMock | undefined;

afterEach(async () => {
  await mock?.stop();
});

/** What `spindrift agent --once` prints beside a mock that was started with these arguments. */
async function heard(...words: string[]): Promise<string> {
  mock = await MetadataMock.start(words);
  let printed = '';
  const terminal = { out: (text: string) => (printed += text), err: (text: string) => (printed += text) };
  const place = ['--metadata-url', mock.url, '--bus-socket', '/nowhere'];
  expect(await main(['agent', '--cloud', 'aws', '--once', ...place], terminal)).toBe(0);
  return printed;
}

const time = '\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z';

describe('an agent beside amazon-ec2-metadata-mock', () => {
  it('hears an interruption and a rebalance recommendation, with IMDSv2 alone', async () => {
    const printed = await heard('spot', '--imdsv2');
    expect(printed).toMatch(new RegExp(`^imds: spot-interruption at ${time}: .*warning was triggered$`, 'm'));
    expect(printed).toMatch(/^imds: rebalance: /m);
  });

  it('hears that an instance is stopped instead of terminated', async () => {
    expect(await heard('spot', '--action', 'stop')).toContain('warning was triggered (stop)');
  });

  it('hears the recommendation alone while nothing else is said', async () => {
    expect(await heard('spot', '--mock-delay-sec', '600')).toMatch(/^imds: rebalance: [^\n]*\n$/);
  });

  it('hears scheduled maintenance', async () => {
    const printed = await heard('events', '--code', 'instance-retirement', '--state', 'active');
    expect(printed).toMatch(new RegExp(`^imds: scheduled-maintenance at ${time}: .*scheduled instance-retirement\\n$`));
  });

  it('hears nothing of maintenance that is over', async () => {
    expect(await heard('events', '--state', 'completed')).toBe('imds: no notice for this machine\n');
  });

  it('hears that the Auto Scaling group terminates the instance', async () => {
    expect(await heard('asglifecycle')).toMatch(new RegExp(`^imds: stopping at ${time}: Its Auto Scaling group`));
  });
});
