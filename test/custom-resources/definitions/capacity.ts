// Pools of nodes: rules in CEL (also about the transition from one value to the next, and about map keys), defaults of
// structs, sets, the scale subresource and columns of every type.
import {
  ageColumn,
  atomicList,
  choice,
  column,
  conditionColumn,
  conditions,
  object,
  rule,
  text,
  withRules,
  type Schema,
} from '../../../src/gateway/definitions/schema-parts.ts'
import { definitionOf, kindSchema, type Project } from './project.ts'

const group = 'capacity.example.com'
const own = 'capacity.example.com'
const qualified = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9][-A-Za-z0-9_.]*$'
const cost = '^([0-9]+(\\.[0-9]+)?)(([KMGTP]i?)|m)?$'
const amounts: Schema = {
  type: 'object',
  additionalProperties: {
    ...{ anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true, pattern: cost },
  },
}
const key: Schema = withRules(
  text(316, 1, qualified),
  rule(`labels of ${own} are reserved`, `self == "${own}/pool" || !self.find("^([^/]+)").endsWith("${own}")`),
  rule('the host name cannot be required', 'self != "kubernetes.io/hostname"'),
)
const requirement: Schema = object(
  {
    ...{ key, operator: choice('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt') },
    values: atomicList(text(63, 0), 50),
    minValues: { type: 'integer', minimum: 1, maximum: 50 },
  },
  ['key', 'operator'],
)
const requirements: Schema = withRules(
  atomicList(requirement, 100),
  rule("'In' needs values", "self.all(x, x.operator == 'In' ? has(x.values) && x.values.size() != 0 : true)"),
  rule(
    "'Gt' and 'Lt' need one integer",
    "self.all(x, x.operator in ['Gt', 'Lt'] ? (has(x.values) && x.values.size() == 1 && int(x.values[0]) >= 0) : true)",
  ),
  rule(
    "'minValues' needs as many values",
    "self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)",
  ),
)
const classRef: Schema = withRules(
  object({ group: text(253), kind: text(63), name: text(253) }, ['group', 'kind', 'name']),
  rule('group is immutable', 'self.group == oldSelf.group'),
  rule('kind is immutable', 'self.kind == oldSelf.kind'),
)
const taint: Schema = object(
  { key: text(316, 1, qualified), value: text(63, 0), effect: choice('NoSchedule', 'PreferNoSchedule', 'NoExecute') },
  ['key', 'effect'],
)
const budget: Schema = object(
  {
    nodes: { type: 'string', default: '10%', pattern: '^((100|[0-9]{1,2})%|[0-9]+)$' },
    schedule: text(64, 1, '^(@(yearly|monthly|weekly|daily|hourly)|((.+)\\s){4}.+)$'),
    duration: { type: 'string', pattern: '^([0-9]+(m|h))+$' },
    reasons: { type: 'array', items: choice('Empty', 'Drifted'), maxItems: 50, 'x-kubernetes-list-type': 'set' },
  },
  ['nodes'],
)
const claimSpec: Record<string, Schema> = {
  requirements,
  classRef,
  taints: atomicList(taint, 50),
  expireAfter: { type: 'string', default: '720h', pattern: '^(([0-9]+(s|m|h))+|Never)$' },
}

const poolSpec: Schema = withRules(
  object(
    {
      template: object({
        metadata: object({
          labels: withRules(
            { type: 'object', maxProperties: 100, additionalProperties: text(63, 0) },
            rule(`labels of ${own} are reserved`, `self.all(x, !x.find("^([^/]+)").endsWith("${own}"))`),
          ),
        }),
        spec: object(claimSpec, ['requirements', 'classRef']),
      }),
      disruption: {
        ...object(
          {
            consolidateAfter: { type: 'string', default: '0s', pattern: '^(([0-9]+(s|m|h))+|Never)$' },
            consolidationPolicy: { ...choice('WhenEmpty', 'Always'), default: 'Always' },
            budgets: withRules(
              { ...atomicList(budget, 50), default: [{ nodes: '10%' }] },
              rule("'schedule' must be set with 'duration'", 'self.all(x, has(x.schedule) == has(x.duration))'),
            ),
          },
          ['consolidateAfter'],
        ),
        default: { consolidateAfter: '0s' },
      },
      limits: amounts,
      replicas: { type: 'integer', format: 'int64', minimum: 0 },
      weight: { type: 'integer', format: 'int32', minimum: 1, maximum: 100 },
    },
    ['template'],
  ),
  rule("'replicas' cannot be added or removed", 'has(self.replicas) == has(oldSelf.replicas)'),
  rule("'replicas' and 'weight' exclude each other", '!has(self.replicas) || !has(self.weight)'),
  rule(
    "with 'replicas', only 'nodes' can be limited",
    "!has(self.replicas) || (!has(self.limits) || size(self.limits) == 0 || (size(self.limits) == 1 && 'nodes' in self.limits))",
  ),
)

const pool = definitionOf(
  group,
  'Pool',
  'Cluster',
  [
    {
      ...{ name: 'v1', served: true, storage: true },
      schema: kindSchema(
        {
          spec: poolSpec,
          status: object({ conditions, resources: amounts, nodes: { type: 'integer', format: 'int64', default: 0 } }),
        },
        ['spec'],
      ),
      subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.nodes' } },
      additionalPrinterColumns: [
        column('Class', '.spec.template.spec.classRef.name'),
        column('Nodes', '.status.nodes'),
        conditionColumn('Ready'),
        ageColumn,
        column('Weight', '.spec.weight', 'integer', 1),
        column('CPU', '.status.resources.cpu', 'string', 1),
      ],
    },
  ],
  { shortNames: ['po1'] },
)

const claim = definitionOf(group, 'Claim', 'Cluster', [
  {
    ...{ name: 'v1', served: true, storage: true, subresources: { status: {} } },
    schema: kindSchema(
      {
        spec: withRules(object(claimSpec, ['requirements', 'classRef']), rule('spec is immutable', 'self == oldSelf')),
        status: object({ conditions, capacity: amounts, providerID: { type: 'string' } }),
      },
      ['spec'],
    ),
    additionalPrinterColumns: [conditionColumn('Launched'), conditionColumn('Ready'), ageColumn],
  },
])

const apiVersion = `${group}/v1`
const reference = { group: 'cloud.example.com', kind: 'Machine', name: 'small' }
const inZone = { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a', 'b'] }
const poolObject = (name: string, more: object, required: object = inZone, labels: object = {}) => ({
  ...{ apiVersion, kind: 'Pool', metadata: { name } },
  spec: {
    template: { metadata: { labels }, spec: { requirements: [required], classRef: reference } },
    ...more,
  },
})
const ruleError = (name: string, path: string, message: string) =>
  `Pool.capacity.example.com "${name}" is invalid: ${path}: Invalid value: ${message}`

export const capacity = {
  crds: [pool, claim],
  samples: [
    { status: 201, object: poolObject('plain', {}) },
    { status: 201, object: poolObject('limited', { limits: { cpu: 100, memory: '1Ti' }, weight: 10 }) },
    { status: 201, object: poolObject('fixed', { replicas: 3, limits: { nodes: '5' } }) },
    {
      status: 201,
      object: poolObject('budgeted', {
        disruption: {
          consolidateAfter: '30s',
          budgets: [{ nodes: '0', schedule: '@daily', duration: '8h', reasons: ['Empty', 'Drifted'] }],
        },
      }),
    },
    {
      status: 201,
      object: { ...poolObject('c', {}), kind: 'Claim', spec: { requirements: [inZone], classRef: reference } },
    },
    {
      status: 422,
      message: ruleError('both', 'spec', "'replicas' and 'weight' exclude each other"),
      object: poolObject('both', { replicas: 3, weight: 1 }),
    },
    {
      status: 422,
      message: ruleError('cpus', 'spec', "with 'replicas', only 'nodes' can be limited"),
      object: poolObject('cpus', { replicas: 3, limits: { cpu: 1 } }),
    },
    {
      status: 422,
      message: ruleError('empty', 'spec.template.spec.requirements', "'In' needs values"),
      object: poolObject('empty', {}, { key: 'a', operator: 'In', values: [] }),
    },
    {
      status: 422,
      message: ruleError('greater', 'spec.template.spec.requirements', "'Gt' and 'Lt' need one integer"),
      object: poolObject('greater', {}, { key: 'a', operator: 'Gt', values: ['-1'] }),
    },
    {
      status: 422,
      message: ruleError(
        'host',
        'spec.template.spec.requirements[0].key',
        '"kubernetes.io/hostname": the host name cannot be required',
      ),
      object: poolObject('host', {}, { key: 'kubernetes.io/hostname', operator: 'Exists' }),
    },
    {
      status: 422,
      message: ruleError('label', 'spec.template.metadata.labels', `labels of ${own} are reserved`),
      object: poolObject('label', {}, inZone, { [`a.${own}/x`]: 'y' }),
    },
    {
      status: 422,
      message: ruleError('half', 'spec.disruption.budgets', "'schedule' must be set with 'duration'"),
      object: poolObject('half', {
        disruption: { consolidateAfter: '1m', budgets: [{ nodes: '1', schedule: '@daily' }] },
      }),
    },
  ],
} as const satisfies Project
