import { expect, test } from 'vitest';
import type { RankedOffering } from '../../../engine/solution.ts';
import { nextStep } from './launch-step.ts';

const of = (capacityType: RankedOffering['capacityType'], price: number, reservationId?: string): RankedOffering => ({
  instanceType: 'm5.large',
  zone: `zone-${price}`,
  capacityType,
  price,
  ...(reservationId === undefined ? {} : { reservationId }),
});
const always = (): boolean => true;

test('reservations come first, whatever is cheaper and wherever they stand', () => {
  const reserved = of('reserved', 0.5, 'cr-1');
  expect(nextStep([of('spot', 0.01), reserved, of('on-demand', 0.1)], always)).toEqual({
    capacityType: 'reserved',
    reservationId: 'cr-1',
    offerings: [reserved],
  });
});

test('one reservation is asked for at a time, and only one slot is taken', () => {
  const taken: string[] = [];
  const step = nextStep([of('reserved', 0.1, 'cr-1'), of('reserved', 0.2, 'cr-2')], (id) => {
    taken.push(id);
    return true;
  });
  expect(step?.reservationId).toBe('cr-1');
  expect(taken).toEqual(['cr-1']);
});

test('a reservation without a slot is passed over, once', () => {
  const asked: string[] = [];
  const full = (id: string): boolean => {
    asked.push(id);
    return false;
  };
  const offerings = [of('reserved', 0.1, 'cr-1'), of('reserved', 0.2, 'cr-1'), of('on-demand', 0.1)];
  expect(nextStep(offerings, full)?.capacityType).toBe('on-demand');
  expect(asked).toEqual(['cr-1']);
  expect(nextStep([of('reserved', 0.1, 'cr-1')], full)).toBeUndefined();
});

test('spot that is dearer than on-demand waits, but for the one that is wanted most', () => {
  const offerings = [of('spot', 0.2), of('spot', 0.05), of('on-demand', 0.1), of('spot', 0.15)];
  expect(nextStep(offerings, always)?.offerings.map(({ price }) => price)).toEqual([0.2, 0.05]);
});

test('on-demand goes first where it is wanted first', () => {
  const offerings = [of('on-demand', 0.1), of('spot', 0.05), of('on-demand', 0.2)];
  expect(nextStep(offerings, always)).toEqual({ capacityType: 'on-demand', offerings: [offerings[0], offerings[2]] });
});
