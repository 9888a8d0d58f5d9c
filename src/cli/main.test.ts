import { describe, expect, it } from 'vitest';
import { SpindriftError } from '../platform/errors.ts';
import { numberOption, switchOption } from '../platform/options.ts';
import { command } from './command.ts';
import { main } from './main.ts';

const COUNT = command({
  name: 'count',
  summary: 'Counts things.',
  usage: '[options] THING…',
  takesWords: true,
  options: {
    from: numberOption({ flag: 'from', fallback: 1, min: 0, max: 9, help: 'Where to start.' }),
    fail: switchOption({ flag: 'fail', help: 'Fail.' }),
  },
  run: async ({ values, positionals }, { out }) => {
    if (values.fail) throw new SpindriftError('KUBE_CONFIG_INVALID', { problem: 'none is there' });
    out(positionals.map((thing, index) => `${values.from + index} ${thing}\n`).join(''));
    return 0;
  },
});

const WAIT = command({
  name: 'wait',
  summary: 'Waits until it is asked to stop, which it asks itself.',
  usage: '',
  options: {},
  run: async (_, { signal }) => {
    process.emit('SIGINT');
    signal.throwIfAborted();
    return 0;
  },
});

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const terminal = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
  };
  const code = await main(args, terminal, [COUNT, WAIT]);
  return { code, out, err };
}

describe('the command line', () => {
  it('runs a command with its options and words', async () => {
    expect(await run('count', '--from', '3', 'a', 'b')).toEqual({ code: 0, out: '3 a\n4 b\n', err: '' });
  });

  it('lists the commands for --help, and shows that list when it is given nothing', async () => {
    const help = await run('--help');
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toContain('  count  Counts things.');
    expect(await run()).toEqual({ ...help, code: 1 });
  });

  it('explains one command for its --help', async () => {
    const { code, out } = await run('count', '--help');
    expect(code).toBe(0);
    expect(out).toContain('Usage: spindrift count [options] THING…');
    expect(out).toContain('--from N  Where to start. (default 1)');
  });

  it('says its version', async () => {
    expect((await run('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    [['cuont'], 'spindrift: cuont is not a command of spindrift, did you mean count?\n'],
    [['nonsense'], 'spindrift: nonsense is not a command of spindrift: spindrift --help lists them\n'],
    [['count', '--form', '1'], 'spindrift: --form is not an option of spindrift count, did you mean --from?\n'],
    [['count', '--from', 'x'], 'spindrift: --from is x, but it must be a whole number from 0 to 9\n'],
    [
      ['wait', 'here'],
      'spindrift wait: unexpected argument here: this command takes only options, which --help lists\n',
    ],
    [['count', '--fail'], 'spindrift: no cluster to talk to: none is there\n'],
  ])('turns what is wrong with %j into one line and exit code 1', async (args, err) => {
    expect(await run(...args)).toEqual({ code: 1, out: '', err });
  });

  it('ends without a word, as shells expect it, when it is asked to stop', async () => {
    let printed = '';
    const print = (text: string): void => {
      printed += text;
    };
    expect([await main(['wait'], { out: print, err: print }, [WAIT]), printed]).toEqual([130, '']);
  });
});
