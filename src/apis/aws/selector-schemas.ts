/** Selectors of an EC2NodeClass for subnets, security groups, images, reservations and placement groups. */
import type { Rule } from '../schema/json-schema.ts';
import { choice, list, map, object, type Schema, text } from '../schema/schema.ts';

const tags = map('Tags that the resource must have; the value * matches any value.', text('The value of the tag.'), {
  maxProperties: 20,
  rules: [
    {
      rule: "self.all(k, k != '' && self[k] != '')",
      message: 'a tag needs a key and a value: write * for any value',
    },
  ],
});

/** Every term needs at least one of these fields. */
function atLeastOneOf(...fields: string[]): Rule {
  return {
    rule: `self.all(x, ${fields.map((field) => `has(x.${field})`).join(' || ')})`,
    message: `each term needs at least one of ${fields.join(', ')}`,
  };
}

/**
 * Karpenter refuses a list only when every term breaks this rule, and users rely on that. Where a term has an id beside other
 * fields, the id counts.
 */
function notAllBoth(field: string, ...others: string[]): Rule {
  return {
    rule: `!self.all(x, has(x.${field}) && (${others.map((other) => `has(x.${other})`).join(' || ')}))`,
    message: `${field} says all there is to say: remove ${others.join(', ')} from the term, or write a term of its own`,
  };
}

export const SUBNET_TERMS = list(
  'Selects the subnets of instances; a subnet must match one of the terms.',
  object('A term; all of its fields must match.', {
    tags,
    id: text('The ID of the subnet.', { pattern: 'subnet-[0-9a-z]+' }),
  }),
  {
    maxItems: 30,
    rules: [
      {
        rule: 'self.size() != 0',
        message: 'subnetSelectorTerms needs a term: name subnets by tags or id',
      },
      atLeastOneOf('tags', 'id'),
      notAllBoth('id', 'tags'),
    ],
  },
);

export const SECURITY_GROUP_TERMS = list(
  'Selects the security groups of instances; a group must match one of the terms.',
  object('A term; all of its fields must match.', {
    tags,
    id: text('The ID of the security group.', { pattern: 'sg-[0-9a-z]+' }),
    name: text('The name of the security group, which is not its Name tag.'),
  }),
  {
    maxItems: 30,
    rules: [
      {
        rule: 'self.size() != 0',
        message: 'securityGroupSelectorTerms needs a term: name security groups by tags, id or name',
      },
      atLeastOneOf('tags', 'id', 'name'),
      notAllBoth('id', 'tags', 'name'),
      notAllBoth('name', 'tags', 'id'),
    ],
  },
);

const MATCH_CRITERIA = ['open', 'targeted'] as const;

/** `instanceType` and `type` are additions of Spindrift; `type` is an alias of instanceMatchCriteria. */
export const RESERVATION_TERMS = list(
  'Selects the capacity reservations to launch into; a reservation must match one of the terms. Without terms, instances use open reservations of the account like any other instance.',
  object('A term; all of its fields must match.', {
    tags,
    id: text('The ID of the capacity reservation.', { pattern: '^cr-[0-9a-z]+$' }),
    ownerID: text('The account that owns the reservation.', { pattern: '^[0-9]{12}$' }),
    instanceMatchCriteria: choice(
      'open: any matching instance uses the reservation. targeted: only instances that name it.',
      MATCH_CRITERIA,
    ),
    type: choice('The same as instanceMatchCriteria.', MATCH_CRITERIA),
    instanceType: text('The instance type that is reserved.', { minLength: 1 }),
  }),
  {
    maxItems: 30,
    rules: [
      atLeastOneOf('tags', 'id', 'instanceMatchCriteria', 'type', 'instanceType'),
      notAllBoth('id', 'tags', 'ownerID', 'instanceMatchCriteria', 'type', 'instanceType'),
      {
        rule: 'self.all(x, !has(x.type) || !has(x.instanceMatchCriteria) || x.type == x.instanceMatchCriteria)',
        message: 'type and instanceMatchCriteria mean the same: remove one of them',
      },
    ],
  },
);

export const PLACEMENT_GROUP_SELECTOR = object(
  'The placement group that instances are launched into.',
  {
    name: text('The name of the placement group.', { minLength: 1 }),
    id: text('The ID of the placement group.', { pattern: '^pg-[0-9a-z]+$' }),
  },
  {
    rules: [
      { rule: 'has(self.name) || has(self.id)', message: 'a placement group is named by name or id' },
      { rule: '!(has(self.name) && has(self.id))', message: 'name and id exclude each other: remove one of them' },
    ],
  },
);

const ALIAS_FAMILIES = "['al2','al2023','bottlerocket','windows2019','windows2022','windows2025']";
const WINDOWS_FAMILIES = "['windows2019','windows2022','windows2025']";

const alias: Schema<string> = text('An image family and its version, as in al2023@latest or bottlerocket@1.21.0.', {
  maxLength: 30,
  rules: [
    {
      rule: "self.matches('^[a-zA-Z0-9]+@.+$')",
      message: 'an alias is a family, an @ and a version, as in al2023@latest',
    },
    {
      rule: `self.split('@')[0] in ${ALIAS_FAMILIES}`,
      message: 'the family of an alias is one of al2, al2023, bottlerocket, windows2019, windows2022, windows2025',
    },
    {
      rule: `self.split('@')[0] in ${WINDOWS_FAMILIES} ? self.split('@')[1] == 'latest' : true`,
      message: 'Windows images have no versions to choose from: write @latest',
    },
  ],
});

export const AMI_TERMS = list(
  'Selects the images of instances; an image must match one of the terms. The newest image that fits the instance type is used.',
  object('A term; all of its fields must match.', {
    alias,
    tags,
    id: text('The ID of the image.', { pattern: 'ami-[0-9a-z]+' }),
    name: text('The name of the image; * matches any characters.'),
    owner: text('The owner of the image: an account, self, amazon or another alias; defaults to self and amazon.'),
    ssmParameter: text('The name or ARN of an SSM parameter that holds the ID of the image.'),
  }),
  {
    minItems: 1,
    maxItems: 30,
    rules: [
      atLeastOneOf('tags', 'id', 'name', 'alias', 'ssmParameter'),
      {
        rule: '!self.exists(x, has(x.id) && (has(x.alias) || has(x.tags) || has(x.name) || has(x.owner)))',
        message: 'id says all there is to say: remove alias, tags, name and owner from the term',
      },
      {
        rule: '!self.exists(x, has(x.alias) && (has(x.id) || has(x.tags) || has(x.name) || has(x.owner)))',
        message: 'alias says all there is to say: remove id, tags, name and owner from the term',
      },
      {
        rule: '!(self.exists(x, has(x.alias)) && self.size() != 1)',
        message: 'a term with an alias must be the only one: remove the others',
      },
    ],
  },
);
