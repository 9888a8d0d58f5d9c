/** The schema of NodeOverlay, karpenter.sh/v1alpha1. */
import type { ResourceList } from '../kubernetes/pod.ts';
import { integer, map, object, quantity, required, type Schema, text } from '../schema/schema.ts';
import { conditions } from './condition-schema.ts';
import { requirements } from './requirement-schema.ts';

export const NODE_OVERLAY_SPEC = object(
  'Selects offerings, and changes their price or resources.',
  {
    requirements: required(requirements('overlay')),
    price: text('The price in USD per hour, as in "0.42".', {
      pattern: '^\\d+(\\.\\d+)?$',
      patternMessage: 'price is a number of USD per hour without a sign, as in "0.42"',
    }),
    priceAdjustment: text(
      'A change of the price of the cloud: an amount in USD as in "-0.05", or a percentage as in "-28%".',
      {
        pattern: '^(([+-]{1}(\\d*\\.?\\d+))|(\\+{1}\\d*\\.?\\d+%)|(^(-\\d{1,2}(\\.\\d+)?%)$)|(-100%))$',
        patternMessage:
          'priceAdjustment begins with + or -, and takes off 100% at most, as in "-28%", "+10%" or "-0.05"',
      },
    ),
    capacity: map(
      'Resources that the cloud does not report, such as devices. They are added to the capacity of the node.',
      quantity(),
      {
        rules: [
          {
            rule: "self.all(x, !(x in ['cpu', 'memory', 'ephemeral-storage', 'pods']))",
            message:
              'an overlay adds resources that the cloud does not know of: remove cpu, memory, ephemeral-storage and pods',
          },
        ],
      },
    ) as Schema<ResourceList>,
    weight: integer(
      'The overlay of the highest weight wins; the default is 0. Two overlays of the same weight must not change the same price or resource of an offering.',
      { format: 'int32', minimum: 1, maximum: 10000 },
    ),
  },
  {
    rules: [
      {
        rule: '!has(self.price) || !has(self.priceAdjustment)',
        message: 'price and priceAdjustment say different things about one price: remove one of them',
      },
    ],
  },
);

export const NODE_OVERLAY_STATUS = object('The state of the overlay.', {
  conditions: conditions('reason required'),
});
