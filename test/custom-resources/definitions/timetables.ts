// Railway lines whose sections have branches and diversions, which are sections again, each with the trains of three kinds
// of days: the largest and deepest definition.
import { labelSelector } from '../../../src/api/meta/v1/label-selector.ts'
import { choice, column, object, type Schema } from '../../../src/gateway/definitions/schema-parts.ts'
import { builtInSchema } from './built-in-schema.ts'
import { anything, count, definitionOf, kindSchema, list, texts, time, type Project } from './project.ts'

const group = 'railway.example.com'
/** The branches of a line have branches, and so on. */
const branchLevels = 4

const textType: Schema = { type: 'string' }
const flag: Schema = { type: 'boolean' }
const metres: Schema = { type: 'integer', format: 'int64', minimum: 1 }
const share: Schema = { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true }
const clock: Schema = { type: 'string', minLength: 4, pattern: '^[0-2]?[0-9]:[0-5][0-9]$' }
const selector = builtInSchema(labelSelector)

/** Fields of one type. */
const fields = (type: Schema, ...names: readonly string[]): Readonly<Record<string, Schema>> =>
  Object.fromEntries(names.map((name) => [name, type]))

const seats: Schema = object(fields(count, 'first', 'second', 'folding', 'wheelchair', 'bicycle'))
const axle: Schema = object({
  ...fields(metres, 'positionMillimetres', 'wheelMillimetres'),
  ...fields(flag, 'driven', 'sanded'),
  brakes: list(object({ ...fields(textType, 'maker', 'model'), kind: choice('disc', 'shoe', 'magnetic') }, ['kind'])),
})
const vehicle: Schema = object(
  {
    ...fields(textType, 'series', 'livery', 'keeper'),
    length: metres,
    seats,
    portionOfTrain: share,
    axles: list(axle),
    entrances: object({
      left: object(fields(flag, 'wide', 'step', 'ramp')),
      right: object(fields(flag, 'wide', 'step')),
    }),
    equipment: { type: 'object', additionalProperties: flag },
    drawing: { type: 'object', ...anything },
  },
  ['series'],
)
const duty: Schema = object(
  {
    role: choice('driver', 'guard', 'steward', 'shunter'),
    ...fields(textType, 'depot', 'roster', 'remarks'),
    ...fields(clock, 'reports', 'leaves'),
    relief: object({ stop: textType, afterMinutes: count, onFoot: flag }, ['stop']),
  },
  ['role'],
)
const call: Schema = object(
  {
    ...fields(textType, 'stop', 'platform', 'announcement'),
    ...fields(clock, 'arrives', 'departs'),
    ...fields(flag, 'onRequest', 'boardingOnly', 'alightingOnly'),
    connections: list(object({ ...fields(textType, 'line', 'direction'), waitsMinutes: count }, ['line'])),
  },
  ['stop'],
)
const fares: Schema = object({
  ...fields(textType, 'currency', 'tariff', 'validity'),
  zones: list(textType),
  reductions: { type: 'object', additionalProperties: share },
  supplements: list(object({ ...fields(textType, 'title', 'condition'), amount: share }, ['title', 'amount'])),
})
const trainFields: Readonly<Record<string, Schema>> = {
  number: count,
  category: choice('local', 'regional', 'express', 'night'),
  marks: texts,
  vehicles: list(vehicle),
  duties: list(duty),
  calls: list(call),
  fares,
}
const train: Schema = object(trainFields, ['number', 'calls'])

const track: Schema = object({
  lengthMetres: metres,
  gaugeMillimetres: metres,
  gradient: { type: 'number' },
  owners: list(textType),
  power: object({ ...fields(metres, 'volts', 'hertz'), ...fields(flag, 'overhead', 'thirdRail') }),
  signals: list(object({ ...fields(textType, 'number', 'aspect'), atMetre: metres, survey: anything }, ['number'])),
})

/** Each level has the sections of the next one twice: as branches and as the diversion. */
function section(levels: number): Schema {
  const further = levels === 0 ? undefined : section(levels - 1)
  return object(
    {
      ...fields(textType, 'from', 'to'),
      track,
      carries: selector,
      ...fields(train, 'workdays', 'saturdays', 'sundays'),
      closed: list(object({ ...fields(time, 'since', 'until'), cause: textType }, ['since'])),
      ...(further === undefined ? {} : { branches: list(further), diversion: further }),
    },
    ['from', 'to'],
  )
}

const trainDefinition = definitionOf(group, 'Train', 'Namespaced', [
  {
    name: 'v1alpha1',
    served: true,
    storage: true,
    schema: kindSchema(
      {
        spec: train,
        status: object({ position: object({ ...fields(textType, 'after', 'before'), seen: time }), delays: anything }),
        orders: list(object({ ...fields(textType, 'given', 'text'), ...fields(flag, 'urgent') }, ['text'])),
      },
      ['spec'],
    ),
    additionalPrinterColumns: [
      column('Position', '.status.position.after'),
      column('Category', '.spec.category', 'string', 10),
    ],
  },
])

export const timetable = definitionOf(
  group,
  'Timetable',
  'Namespaced',
  [
    {
      name: 'v1alpha1',
      served: true,
      storage: true,
      subresources: { status: {} },
      schema: kindSchema(
        {
          spec: object({ season: textType, reserve: train, sections: list(section(branchLevels)) }, ['sections']),
          status: object({ published: time, complaints: list(anything) }),
        },
        ['spec'],
      ),
    },
  ],
  { shortNames: ['tt', 'ttable'] },
)

const apiVersion = `${group}/v1alpha1`
const local = { number: 7, calls: [{ stop: 'Elm Street', departs: '6:05' }, { stop: 'Harbour' }] }
const between = (from: string, to: string, more: object = {}) => ({ from, to, ...more })
const timetableObject = (name: string, spec: object) => ({
  apiVersion,
  kind: 'Timetable',
  metadata: { name },
  spec,
})

export const timetables: Project = {
  crds: [timetable, trainDefinition],
  samples: [
    {
      status: 201,
      object: {
        apiVersion,
        kind: 'Train',
        metadata: { name: 'local' },
        spec: {
          ...local,
          vehicles: [
            {
              series: '12',
              portionOfTrain: 3,
              equipment: { heating: true },
              drawing: { any: { depth: [1, 'two', null] } },
            },
            { series: '13', portionOfTrain: '50%', axles: [{ driven: true, brakes: [{ kind: 'disc' }] }] },
          ],
          fares: { reductions: { child: '50%', dog: 1 } },
        },
      },
    },
    {
      status: 201,
      object: timetableObject('winter', {
        reserve: local,
        sections: [
          between('Elm Street', 'Harbour', {
            branches: [
              between('Mill', 'Quarry', { track: { signals: [{ number: 'a', survey: [{ name: 'one' }, 'two', 3] }] } }),
              between('Mill', 'Lake', {
                diversion: between('Mill', 'Wood', {
                  carries: { matchLabels: { gauge: 'narrow' } },
                  sundays: local,
                  branches: [between('Wood', 'Ford', { closed: [{ since: '2030-01-01T00:00:00Z' }] })],
                }),
              }),
            ],
          }),
        ],
      }),
    },
    {
      status: 400,
      message:
        'Timetable in version "v1alpha1" cannot be handled as a Timetable: strict decoding error: unknown field "spec.reserve.fares.discount", unknown field "spec.sections[0].branches[0].diversion.sundays.calls[0].gate", unknown field "spec.sections[1].tunnel"',
      object: timetableObject('unknown', {
        reserve: { ...local, fares: { discount: true } },
        sections: [
          between('a', 'b', {
            branches: [
              between('c', 'd', {
                diversion: between('e', 'f', { sundays: { ...local, calls: [{ stop: 'g', gate: 1 }] } }),
              }),
            ],
          }),
          between('h', 'i', { tunnel: 'x' }),
        ],
      }),
    },
    {
      status: 422,
      message:
        'Timetable.railway.example.com "deep" is invalid: [spec.sections[0].diversion.branches[0].workdays.calls[0].departs: Invalid value: "6:65": spec.sections[0].diversion.branches[0].workdays.calls[0].departs in body should match \'^[0-2]?[0-9]:[0-5][0-9]$\', spec.sections[0].diversion.to: Required value]',
      object: timetableObject('deep', {
        sections: [
          between('a', 'b', {
            diversion: {
              from: 'c',
              branches: [between('d', 'e', { workdays: { number: 1, calls: [{ stop: 'f', departs: '6:65' }] } })],
            },
          }),
        ],
      }),
    },
  ],
}
