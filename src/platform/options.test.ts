import { describe, expect, it } from 'vitest';
import {
  choiceOption,
  durationOption,
  numberOption,
  parseDuration,
  parseOptions,
  switchOption,
  textOption,
} from './options.ts';
import { optionsHelp, optionsTable } from './options-help.ts';

const TABLE = {
  port: numberOption({ flag: 'port', env: 'TEST_PORT', fallback: 8080, min: 0, max: 65535, help: 'Where to listen.' }),
  speed: numberOption({ flag: 'speed', fallback: 1, min: 0.1, max: 1000, fractions: true, help: 'How fast.' }),
  level: choiceOption({ flag: 'level', fallback: 'info', choices: ['debug', 'info'], help: 'How much to say.' }),
  quiet: switchOption({ flag: 'quiet', env: 'TEST_QUIET', help: 'Say nothing.' }),
  file: textOption({ flag: 'file', placeholder: 'FILE', help: 'What to read.' }),
  wait: durationOption({ flag: 'wait', fallback: '10s', help: 'How long to wait.' }),
};

const parse = (args: string[], environment: Record<string, string> = {}) =>
  parseOptions(TABLE, 'spindrift test', args, environment);

describe('options', () => {
  it('have their defaults when nothing is given', () => {
    expect(parse([]).values).toEqual({
      port: 8080,
      speed: 1,
      level: 'info',
      quiet: false,
      file: undefined,
      wait: 10_000,
    });
  });

  it('come from flags, written with a blank or an equals sign', () => {
    const args = ['--port', '1', '--speed=2.5', '--level', 'debug', '--quiet', '--file=x.yaml', '--wait', '1h30m'];
    expect(parse(args).values).toEqual({
      port: 1,
      speed: 2.5,
      level: 'debug',
      quiet: true,
      file: 'x.yaml',
      wait: 5_400_000,
    });
  });

  it('come from the environment where there is no flag', () => {
    expect(parse([], { TEST_PORT: '9', TEST_QUIET: 'true' }).values).toMatchObject({ port: 9, quiet: true });
    expect(parse(['--port', '10'], { TEST_PORT: '9' }).values.port).toBe(10);
  });

  it('leave other words alone', () => {
    expect(parse(['a', '--quiet', 'b', '--', '--c']).positionals).toEqual(['a', 'b', '--c']);
  });

  it.each([
    [['--port', 'abc'], {}, '--port is abc, but it must be a whole number from 0 to 65535'],
    [['--port', '70000'], {}, '--port is 70000, but it must be a whole number from 0 to 65535'],
    [['--port', '1.5'], {}, '--port is 1.5, but it must be a whole number from 0 to 65535'],
    [['--port'], {}, '--port is empty, but it must be a whole number from 0 to 65535'],
    [[], { TEST_PORT: '-1' }, 'TEST_PORT (environment) is -1, but it must be a whole number from 0 to 65535'],
    [['--level', 'loud'], {}, '--level is loud, but it must be one of debug, info'],
    [['--quiet=maybe'], {}, '--quiet is maybe, but it must be true or false'],
    [['--wait', '10'], {}, '--wait is 10, but it must be a time such as 90s, 15m or 1h30m'],
    [['--file='], {}, '--file is empty, but it must be a text that is not empty'],
  ])('refuse %j with a sentence that names option, value and what is allowed', (args, environment, message) => {
    expect(() => parse(args, environment)).toThrow(message);
  });

  it('that do not exist are refused, with the one that was meant', () => {
    expect(() => parse(['--prot', '1'])).toThrow('--prot is not an option of spindrift test, did you mean --port?');
    expect(() => parse(['--something-else'])).toThrow(/^--something-else is not an option of spindrift test$/);
  });

  it('show flag, default and environment in their help', () => {
    expect(optionsHelp(TABLE).split('\n')[0]).toBe(
      '  --port N            Where to listen. (default 8080, env TEST_PORT)',
    );
    expect(optionsTable(TABLE)).toContain(
      '| `--level debug\\|info` |  | `info` | How much to say. | one of debug, info |',
    );
  });
});

describe('parseDuration', () => {
  it('reads times as Go writes them, and nothing else', () => {
    expect(['250ms', '90s', '15m', '1h30m', '1.5h'].map(parseDuration)).toEqual([
      250, 90_000, 900_000, 5_400_000, 5_400_000,
    ]);
    expect(['', '5', 's', '-5s', '5 s', '1d'].map(parseDuration)).toEqual(Array(6).fill(undefined));
  });
});
