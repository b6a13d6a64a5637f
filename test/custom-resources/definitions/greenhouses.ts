// Greenhouses and cuttings: rules in CEL (also about the transition from one value to the next, and about map keys),
// defaults of structs, sets, the scale subresource and columns of every type.
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

const group = 'greenhouse.example.com'
const botanical = '^([a-z]+(\\.[a-z]+)*/)?[A-Za-z][-A-Za-z_]*$'
const hours = '^([1-9][0-9]?(h|m)){1,2}$'
const hoursOrNever = `^(([1-9][0-9]?(h|m)){1,2}|Never)$`

/** By name, in litres or pieces. */
const quantities: Schema = {
  type: 'object',
  additionalProperties: {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
    pattern: '^[0-9]+(\\.[0-9]+)?(l|ml|kg|g)?$',
  },
}
const species: Schema = withRules(
  text(120, 2, botanical),
  rule(`species of ${group} are reserved`, `self == "${group}/grass" || !self.find("^([^/]+)").endsWith("${group}")`),
  rule('nettles are not grown', 'self != "urtica/dioica"'),
)
const plant: Schema = object(
  {
    species,
    grows: choice('Alone', 'Anywhere', 'Above', 'Below', 'Beside', 'Apart'),
    neighbours: atomicList(text(40, 0), 30),
    rows: { type: 'integer', minimum: 1, maximum: 30 },
  },
  ['species', 'grows'],
)
const plants: Schema = withRules(
  atomicList(plant, 80),
  rule(
    "'Beside' needs neighbours",
    "self.all(p, p.grows == 'Beside' ? has(p.neighbours) && p.neighbours.size() != 0 : true)",
  ),
  rule(
    "'Above' and 'Below' need one height",
    "self.all(p, p.grows in ['Above', 'Below'] ? (has(p.neighbours) && p.neighbours.size() == 1 && int(p.neighbours[0]) >= 0) : true)",
  ),
  rule(
    "'rows' needs as many neighbours",
    "self.all(p, (p.grows == 'Beside' && has(p.rows)) ? p.neighbours.size() >= p.rows : true)",
  ),
)
const soil: Schema = withRules(
  object({ pit: text(90), mixture: text(50), sack: text(90) }, ['pit', 'mixture', 'sack']),
  rule('pit is immutable', 'self.pit == oldSelf.pit'),
  rule('mixture is immutable', 'self.mixture == oldSelf.mixture'),
)
const watering: Schema = object(
  {
    share: { type: 'string', default: '10%', pattern: '^((100|[0-9]{1,2})%|[0-9]+l)$' },
    begins: text(32, 1, '^(dawn|noon|dusk|([01]?[0-9]|2[0-3]):[0-5][0-9])$'),
    lasts: { type: 'string', pattern: hours },
    causes: { type: 'array', items: choice('Dry', 'Hot'), maxItems: 30, 'x-kubernetes-list-type': 'set' },
  },
  ['share'],
)
const climate: Schema = {
  ...object(
    {
      night: { type: 'string', default: '8h', pattern: hoursOrNever },
      glass: { ...choice('Clear', 'Milky'), default: 'Clear' },
      waterings: withRules(
        { ...atomicList(watering, 30), default: [{ share: '10%' }] },
        rule("'begins' must be set with 'lasts'", 'self.all(w, has(w.begins) == has(w.lasts))'),
      ),
    },
    ['night'],
  ),
  default: { night: '8h' },
}
const tags: Schema = withRules(
  { type: 'object', maxProperties: 60, additionalProperties: text(40, 0) },
  rule(`tags of ${group} are reserved`, `self.all(tag, !tag.find("^([^/]+)").endsWith("${group}"))`),
)

const greenhouseSpec: Schema = withRules(
  object(
    {
      plants,
      soil,
      climate,
      tags,
      rations: quantities,
      beds: { type: 'integer', format: 'int64', minimum: 0 },
      meadow: { type: 'integer', format: 'int32', minimum: 1, maximum: 100 },
    },
    ['plants', 'soil'],
  ),
  rule("'beds' cannot be added or removed", 'has(self.beds) == has(oldSelf.beds)'),
  rule("'beds' and 'meadow' exclude each other", '!has(self.beds) || !has(self.meadow)'),
  rule(
    "with 'beds', only 'water' can be rationed",
    "!has(self.beds) || (!has(self.rations) || size(self.rations) == 0 || (size(self.rations) == 1 && 'water' in self.rations))",
  ),
)

const greenhouse = definitionOf(
  group,
  'Greenhouse',
  'Cluster',
  [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: kindSchema(
        {
          spec: greenhouseSpec,
          status: object({
            conditions,
            harvest: quantities,
            planted: { type: 'integer', format: 'int64', default: 0 },
          }),
        },
        ['spec'],
      ),
      subresources: { status: {}, scale: { specReplicasPath: '.spec.beds', statusReplicasPath: '.status.planted' } },
      additionalPrinterColumns: [
        column('Sack', '.spec.soil.sack'),
        column('Planted', '.status.planted'),
        conditionColumn('Green'),
        ageColumn,
        column('Meadow', '.spec.meadow', 'integer', 1),
        column('Apples', '.status.harvest.apples', 'string', 1),
      ],
    },
  ],
  { shortNames: ['gh'] },
)

const cutting = definitionOf(group, 'Cutting', 'Cluster', [
  {
    name: 'v1',
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: kindSchema(
      {
        spec: withRules(
          object({ plants, soil, keep: { type: 'string', default: '72h', pattern: hoursOrNever } }, ['plants', 'soil']),
          rule('spec is immutable', 'self == oldSelf'),
        ),
        status: object({ conditions, roots: quantities, pot: { type: 'string' } }),
      },
      ['spec'],
    ),
    additionalPrinterColumns: [conditionColumn('Rooted'), conditionColumn('Green'), ageColumn],
  },
])

const apiVersion = `${group}/v1`
const bog = { pit: 'north', mixture: 'Peat', sack: 'small' }
const tomato = { species: 'solanum/tomato', grows: 'Beside', neighbours: ['basil', 'carrot'] }
const greenhouseObject = (name: string, more: object, planted: object = tomato) => ({
  apiVersion,
  kind: 'Greenhouse',
  metadata: { name },
  spec: { plants: [planted], soil: bog, ...more },
})
const ruleError = (name: string, path: string, message: string) =>
  `Greenhouse.${group} "${name}" is invalid: ${path}: Invalid value: ${message}`

export const greenhouses = {
  crds: [cutting, greenhouse],
  samples: [
    { status: 201, object: greenhouseObject('plain', {}) },
    { status: 201, object: greenhouseObject('rationed', { rations: { water: 100, peat: '1.5kg' }, meadow: 10 }) },
    { status: 201, object: greenhouseObject('counted', { beds: 3, rations: { water: '5l' } }) },
    {
      status: 201,
      object: greenhouseObject('watered', {
        climate: {
          night: '6h30m',
          waterings: [{ share: '0l', begins: 'dawn', lasts: '2h', causes: ['Dry', 'Hot'] }],
        },
      }),
    },
    {
      status: 201,
      object: { apiVersion, kind: 'Cutting', metadata: { name: 'c' }, spec: { plants: [tomato], soil: bog } },
    },
    {
      status: 422,
      message: ruleError('both', 'spec', "'beds' and 'meadow' exclude each other"),
      object: greenhouseObject('both', { beds: 3, meadow: 1 }),
    },
    {
      status: 422,
      message: ruleError('peat', 'spec', "with 'beds', only 'water' can be rationed"),
      object: greenhouseObject('peat', { beds: 3, rations: { peat: 1 } }),
    },
    {
      status: 422,
      message: ruleError('lonely', 'spec.plants', "'Beside' needs neighbours"),
      object: greenhouseObject('lonely', {}, { species: 'mint', grows: 'Beside', neighbours: [] }),
    },
    {
      status: 422,
      message: ruleError('height', 'spec.plants', "'Above' and 'Below' need one height"),
      object: greenhouseObject('height', {}, { species: 'mint', grows: 'Above', neighbours: ['-1'] }),
    },
    {
      status: 422,
      message: ruleError('nettle', 'spec.plants[0].species', '"urtica/dioica": nettles are not grown'),
      object: greenhouseObject('nettle', {}, { species: 'urtica/dioica', grows: 'Alone' }),
    },
    {
      status: 422,
      message: ruleError('tag', 'spec.tags', `tags of ${group} are reserved`),
      object: greenhouseObject('tag', { tags: { [`a.${group}/x`]: 'y' } }),
    },
    {
      status: 422,
      message: ruleError('half', 'spec.climate.waterings', "'begins' must be set with 'lasts'"),
      object: greenhouseObject('half', { climate: { night: '1h', waterings: [{ share: '1l', begins: 'noon' }] } }),
    },
  ],
} as const satisfies Project
