/** Kinds of messages in the interruption queue. Karpenter's names are kept, as its dashboards query them. */
export const MESSAGE_KINDS = [
  'spot_interrupted',
  'rebalance_recommendation',
  'scheduled_change',
  'instance_stopped',
  'instance_terminated',
  'capacity_reservation_interrupted',
  'capacity_block_expiring',
  /** A message of an Auto Scaling group, for that group itself. */
  'lifecycle_action',
  /** Sent by `spindrift aws check` to test delivery. */
  'check',
  /** Valid but irrelevant: another event, another version, or a harmless state. */
  'no_op',
  /** Not an event at all. */
  'junk',
] as const;

export type MessageKind = (typeof MESSAGE_KINDS)[number];
