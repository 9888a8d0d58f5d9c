import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../platform/clock.ts';
import { ageText } from './age-text.ts';
import { bar } from './bar.ts';
import { headerLines, nodeLines } from './fleet-lines.ts';
import type { FleetView, NodeView, Use } from './fleet-view.ts';
import { frame, wholeFleet } from './frame.ts';
import { wishOf } from './keys.ts';
import { toneOfUse } from './paint.ts';

const NOW = 1_000_000_000 as EpochMs;
const GIB = 1024 ** 3;

function node(over: Partial<NodeView> = {}): NodeView {
  return {
    name: 'general-x7k2p',
    status: 'Ready',
    remarks: [],
    cpu: { used: 3000, total: 4000 },
    memory: { used: GIB, total: 8 * GIB },
    gpu: { used: 0, total: 0 },
    pods: { used: 12, total: 58 },
    instanceType: 'm5.xlarge',
    capacityType: 'spot',
    price: 0.07,
    onDemandPrice: 0.192,
    createdAt: (NOW - 90_000) as EpochMs,
    ...over,
  };
}

function fleet(nodes: readonly NodeView[], over: Partial<FleetView> = {}): FleetView {
  const none: Use = { used: 0, total: 0 };
  return {
    now: NOW,
    nodes,
    pods: { running: 12, pending: 0 },
    cpu: none,
    memory: none,
    gpu: none,
    pricePerHour: 0.07,
    savedPerHour: 0.122,
    ...over,
  };
}

describe('a bar', () => {
  it('is drawn in eighths of a cell', () => {
    expect([0, 0.0625, 0.5, 0.9375, 1].map((share) => bar(share, 2))).toEqual(['  ', '▏ ', '█ ', '█▉', '██']);
  });

  it('is as long as it may be, whatever the share', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), fc.nat(40), (share, cells) => [...bar(share, cells)].length === cells),
    );
  });

  it('is better the fuller it is', () => {
    expect([1, 0.9, 0.7, 0.2].map(toneOfUse)).toEqual(['good', 'good', 'fair', 'poor']);
  });
});

describe('an age', () => {
  it('has one unit', () => {
    expect([-1, 59_999, 60_000, 7_200_000, 200_000_000].map(ageText)).toEqual(['0s', '59s', '1m', '2h', '2d']);
  });
});

describe('the lines of the fleet', () => {
  it('say what it costs and what that saves', () => {
    const [first, second] = headerLines(fleet([node()]), { width: 80 });
    expect(first).toBe('1 node, 12 pods running, 0 pending');
    expect(second).toBe('$0.0700 an hour, $51.10 a month, $0.1220 an hour (64 %) below on-demand');
  });

  it('say nothing of savings where there are none', () => {
    expect(headerLines(fleet([node()], { savedPerHour: 0 }), { width: 80 })[1]).toBe('$0.0700 an hour, $51.10 a month');
  });

  it('say how much headroom there is, and what it costs', () => {
    const headroom = { pods: 5, buffers: 2, pricePerHour: 0.0312 };
    expect(headerLines(fleet([node()], { headroom }), { width: 80 })[2]).toBe(
      'headroom: room for 5 pods of 2 capacity buffers, $0.0312 an hour',
    );
  });

  it('have one row for each node', () => {
    const { title, rows } = nodeLines(fleet([node()]), { width: 80 });
    expect(title).toBe('  NODE          CPU         MEMORY        PODS TYPE       $/HOUR BOUGHT  AGE');
    expect(rows).toEqual(['● general-x7k2p ███▊ ▏  75% ▋    ▏  13%  12/58 m5.xlarge $0.0700 spot     1m']);
  });

  it('say in words how a node does where there is room', () => {
    const { rows } = nodeLines(fleet([node({ status: 'Leaving', remarks: ['Interrupted'] })]), { width: 120 });
    expect(rows[0]).toMatch(/^↓ .* spot +1m Leaving, Interrupted$/);
  });

  it('have a column for GPUs where there are any', () => {
    const gpus = { used: 3, total: 4 };
    const { title, rows } = nodeLines(fleet([node({ gpu: gpus })], { gpu: gpus }), { width: 80 });
    expect(title).toContain('GPU');
    expect(rows[0]).toContain(' 3/4 ');
  });

  it('say that reserved machines are paid for, and nothing of the price of others', () => {
    const { price: _, ...unknown } = node({ capacityType: '' });
    const { rows } = nodeLines(fleet([node({ capacityType: 'reserved' }), unknown]), { width: 80 });
    expect(rows[0]).toContain(' paid resrvd ');
    expect(rows[1]).toContain('– –');
  });

  it('are never wider than the terminal from 40 columns on', () => {
    const names = fc.string({ minLength: 1, maxLength: 63, unit: fc.constantFrom('a', 'b', '-', '7') });
    fc.assert(
      fc.property(
        fc.array(names, { maxLength: 5 }),
        fc.integer({ min: 40, max: 200 }),
        fc.boolean(),
        (all, width, gpu) => {
          const nodes = all.map((name) => node({ name, instanceType: name, capacityType: 'on-demand' }));
          const view = fleet(nodes, {
            pricePerHour: 1234.5,
            savedPerHour: 4321,
            pods: { running: 12345, pending: 678 },
            memory: { used: 123 * GIB, total: 456 * GIB },
            ...(gpu && { gpu: { used: 1, total: 8 } }),
          });
          const lines = [...frame(view, { width, height: 20 }, 0).lines];
          for (const line of lines) expect([...line].length).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});

describe('a frame', () => {
  const many = fleet(Array.from({ length: 30 }, (_, index) => node({ name: `node-${index}` })));

  it('is as high as the terminal, and says how many nodes it leaves out', () => {
    const { lines } = frame(many, { width: 80, height: 20 }, 0);
    expect(lines).toHaveLength(20);
    expect(lines.at(-1)).toBe('q quits  ↑↓ scrolls (15 more)');
  });

  it('scrolls to the last node and no further', () => {
    const { first, lines } = frame(many, { width: 80, height: 20 }, 99);
    expect(first).toBe(15);
    expect(lines.at(-2)).toContain('node-29');
  });

  it('is everything at once for those who do not watch', () => {
    expect(wholeFleet(many, { width: 80 }).split('\n')).toHaveLength(2 + 1 + 1 + 30 + 1);
    expect(wholeFleet(fleet([]), { width: 80 })).toContain('No nodes.');
  });
});

describe('keys', () => {
  it('quit and scroll, and mean nothing else', () => {
    expect(['q', '\x03', '\x1b'].map(wishOf)).toEqual(Array(3).fill({ kind: 'quit' }));
    expect(wishOf('\x1b[B')).toEqual({ kind: 'scroll', by: 1 });
    expect(wishOf('x')).toBeUndefined();
  });
});
