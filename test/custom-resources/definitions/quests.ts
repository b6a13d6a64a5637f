// Quests of a game: several served versions without a webhook, choices among fields (oneOf, anyOf, not), scenes that lead
// to scenes, objects of any kind inside an object, and defaults and enumerations at every level.
import { labelSelector } from '../../../src/api/meta/v1/label-selector.ts'
import { choice, column, keyedList, object, text, type Schema } from '../../../src/gateway/definitions/schema-parts.ts'
import { builtInSchema } from './built-in-schema.ts'
import { anything, count, definitionOf, kindSchema, list, texts, type Project } from './project.ts'

const group = 'quests.example.com'
const textType: Schema = { type: 'string' }
const selector = builtInSchema(labelSelector)

/** One place, or several of them. */
const setting: Schema = {
  ...object({
    place: textType,
    places: list(textType),
    weather: list(choice('Rain', 'Sun', 'Fog', 'Snow')),
    decoration: texts,
    lightedBy: selector,
    inhabitedBy: selector,
  }),
  not: { required: ['place', 'places'] },
}
const cast: Schema = list(object({ figure: textType, mood: textType, wears: list(textType) }, ['figure', 'mood']))
/** For day or for night. */
const stage: Schema = {
  ...object({ day: list(object({ setting, cast })), night: list(object({ setting, cast, moon: count })) }),
  not: { required: ['day', 'night'] },
}
const riddle: Schema = object(
  {
    question: textType,
    language: { ...choice('Elvish', 'Common'), default: 'Common' },
    hints: list(object({ after: count, hint: anything }, ['after', 'hint'])),
    judge: object({ figure: textType, patience: count }, ['figure']),
  },
  ['question'],
)
/** Each has exactly one way to be opened. */
const locks: Schema = list({
  ...object(
    {
      label: textType,
      key: object({ metal: textType, teeth: count }, ['metal']),
      riddle,
      spell: object({ words: anything, gesture: textType, otherwise: anything }),
    },
    ['label'],
  ),
  oneOf: [{ required: ['key'] }, { required: ['riddle'] }, { required: ['spell'] }],
})
const dice: Schema = object({
  roll: anything,
  against: anything,
  cheer: textType,
  luck: choice('High', 'Low', 'Even', 'Odd'),
})

/** What the hero can do next. Where no level is left, the quest is over. */
const turns = (levels: number): Schema =>
  list(
    object({
      says: textType,
      tone: choice('Brave', 'Sly'),
      locks,
      dice: object({ each: list(dice), sum: list(dice) }),
      loot: anything,
      ...(levels === 0 ? {} : { turns: turns(levels - 1) }),
    }),
  )

const chapter = (levels: number): Schema =>
  object(
    {
      title: text(63),
      stage,
      flashback: stage,
      locks,
      isOptional: { type: 'boolean', default: true },
      fight: object({
        ending: { ...choice('Flight', 'Victory'), default: 'Flight' },
        taunt: textType,
        tactics: anything,
        dice: object({ opening: list(dice) }),
        turns: turns(levels),
        relic: { type: 'object', 'x-kubernetes-embedded-resource': true, ...anything },
      }),
      trade: object({ stalls: list(object({ locks, visitedBy: selector })), turns: turns(levels), prices: anything }),
      rest: object({
        inn: textType,
        meal: textType,
        dream: anything,
        turns: turns(levels),
        music: { type: 'boolean', default: false },
      }),
    },
    ['title', 'stage'],
  )

const version = (name: string, storage: boolean, levels: number) => ({
  name,
  served: true,
  storage,
  subresources: { status: {} },
  schema: kindSchema(
    {
      spec: object({
        chapters: keyedList(chapter(levels), 256, 'title'),
        difficulty: { ...choice('Easy', 'Hard'), default: 'Hard' },
        isRepeatable: { type: 'boolean', default: true },
        hourglassMinutes: { type: 'integer', format: 'int32', minimum: 1, maximum: 30, nullable: true },
      }),
      status: object({
        isSolved: { type: 'boolean' },
        tally: object({ fights: { type: 'integer' }, trades: { type: 'integer' } }),
      }),
    },
    ['spec'],
  ),
  additionalPrinterColumns: [
    column('Repeatable', '.spec.isRepeatable', 'boolean'),
    column('Difficulty', '.spec.difficulty', 'string', 1),
    column('Solved', '.status.isSolved', 'boolean'),
    column('Fights', '.status.tally.fights', 'integer', 1),
    column('Age', '.metadata.creationTimestamp', 'date'),
  ],
})

const quest = definitionOf(
  group,
  'Quest',
  'Cluster',
  [version('v1', true, 3), version('v1beta1', false, 3), version('v1alpha1', false, 2)],
  { shortNames: ['qu'] },
)
const companion = definitionOf(group, 'Companion', 'Namespaced', [
  {
    name: 'v2',
    served: true,
    storage: true,
    schema: kindSchema(
      {
        spec: {
          ...object({
            home: stage,
            pets: anything,
            leaves: { type: 'string', format: 'date-time' },
            skills: list(object({ skill: textType, learnt: list(textType) }, ['skill', 'learnt'])),
          }),
          anyOf: [{ required: ['skills'] }, { required: ['pets'] }],
        },
      },
      ['spec'],
    ),
  },
])

const apiVersion = `${group}/v1`
const forest = { day: [{ setting: { places: ['forest'], weather: ['Fog'] } }] }
const questObject = (name: string, first: object, servedVersion = apiVersion) =>
  ({
    apiVersion: servedVersion,
    kind: 'Quest',
    metadata: { name },
    spec: { chapters: [{ title: 'a', stage: forest, ...first }] },
  }) as const
const companionObject = (name: string, more: object) =>
  ({ apiVersion: `${group}/v2`, kind: 'Companion', metadata: { name }, spec: { home: forest, ...more } }) as const

export const quests: Project = {
  crds: [companion, quest],
  samples: [
    { status: 201, object: questObject('tactics', { fight: { tactics: { left: { flank: { '?*': 'a' } } } } }) },
    { status: 201, object: questObject('older', { trade: { prices: [{ horse: 1 }] } }, `${group}/v1beta1`) },
    { status: 201, object: questObject('oldest', { rest: { inn: 'Bear', meal: 'x' } }, `${group}/v1alpha1`) },
    {
      status: 201,
      object: questObject('turns', {
        locks: [
          { label: 'c', key: { metal: 'iron' } },
          { label: 'd', riddle: { question: 'Who?', hints: [{ after: 1, hint: [1] }] } },
        ],
        fight: {
          turns: [{ says: 'a', turns: [{ says: 'b', turns: [{ says: 'c', turns: [{ loot: { x: 1 } }] }] }] }],
          relic: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'embedded' }, data: { any: 'thing' } },
        },
      }),
    },
    { status: 201, object: companionObject('leaves', { pets: [{}], leaves: '2030-01-01T00:00:00Z' }) },
    {
      status: 422,
      message: `Companion.quests.example.com "none" is invalid: [<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf), spec.skills: Required value]`,
      object: companionObject('none', {}),
    },
    {
      status: 422,
      message: `Quest.quests.example.com "places" is invalid: <nil>: Invalid value: "": "spec.chapters[0].stage.day[0].setting" must not validate the schema (not)`,
      object: questObject('places', { stage: { day: [{ setting: { place: 'a', places: ['b'] } }] } }),
    },
    {
      status: 422,
      message: `Quest.quests.example.com "two" is invalid: <nil>: Invalid value: "": "spec.chapters[0].locks[0]" must validate one and only one schema (oneOf). Found 2 valid alternatives`,
      object: questObject('two', { locks: [{ label: 'c', key: { metal: 'iron' }, spell: { words: 1 } }] }),
    },
    {
      status: 400,
      message:
        'Quest in version "v1alpha1" cannot be handled as a Quest: strict decoding error: unknown field "spec.chapters[0].trade.turns[0].turns[0].turns[0].turns"',
      object: questObject(
        'deeper',
        { trade: { turns: [{ turns: [{ turns: [{ turns: [] }] }] }] } },
        `${group}/v1alpha1`,
      ),
    },
  ],
}
