/** What a message of the interruption queue turned out to be. The names are Karpenter's where it has one, as its dashboards look for them. */
export const MESSAGE_KINDS = [
  'spot_interrupted',
  'rebalance_recommendation',
  'scheduled_change',
  'instance_stopped',
  'instance_terminated',
  'capacity_reservation_interrupted',
  'capacity_block_expiring',
  /** An Auto Scaling group's message: that group's own business. */
  'lifecycle_action',
  /** Sent by `spindrift aws check` to see whether messages arrive. */
  'check',
  /** Readable, but of no interest: another event, another version, a state that means no harm. */
  'no_op',
  /** Not an event at all. */
  'junk',
] as const;

export type MessageKind = (typeof MESSAGE_KINDS)[number];
