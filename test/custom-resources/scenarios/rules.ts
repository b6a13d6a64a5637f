// Rules in x-kubernetes-validations: messages, reasons, paths, transitions, ratcheting, limits of cost.
import {
  definition,
  definitionsPath,
  get,
  jsonPatch,
  mergePatch,
  objectSchema,
  patch,
  post,
  version,
  widgetsOf,
  type Scenario,
  type Schema,
} from '../scenario.ts'

const rule = (text: string, more: object = {}) => ({ rule: text, ...more })
const withRules = (schema: Schema, ...rules: readonly object[]): Schema => ({
  ...schema,
  'x-kubernetes-validations': rules,
})
const whole = { type: 'integer' }
const text = { type: 'string', maxLength: 50 }

const widgets = widgetsOf('rules.example.com')
const properties: Schema = {
  plain: withRules(whole, rule('self > 5')),
  message: withRules(whole, rule('self > 5', { message: 'it must be above five' })),
  expression: withRules(text, rule('self == "x"', { messageExpression: '"it is " + self' })),
  both: withRules(text, rule('self == "x"', { message: 'plain', messageExpression: '"computed " + self' })),
  failing: withRules(text, rule('self == "x"', { message: 'fallback', messageExpression: '["a"][self.size()]' })),
  neither: withRules(text, rule('self == "x"', { messageExpression: '["a"][self.size()]' })),
  empty: withRules(whole, rule('self > 5', { messageExpression: '" "' })),
  lines: withRules(whole, rule('self > 5', { messageExpression: '"two\\nlines"' })),
  multi: withRules(whole, rule('self > 5 &&\nself < 10', { message: 'between' })),
  invalid: withRules(whole, rule('self > 5', { reason: 'FieldValueInvalid' })),
  forbidden: withRules(whole, rule('self > 5', { reason: 'FieldValueForbidden', message: 'not this' })),
  required: withRules(whole, rule('self > 5', { reason: 'FieldValueRequired' })),
  duplicate: withRules(whole, rule('self > 5', { reason: 'FieldValueDuplicate' })),
  path: withRules(
    objectSchema({
      a: text,
      b: objectSchema({ c: text }),
      m: { type: 'object', additionalProperties: text, maxProperties: 5 },
    }),
    rule('self.a == "x"', { fieldPath: '.a' }),
    rule('self.a == "x"', { fieldPath: '.b.c', reason: 'FieldValueRequired' }),
    rule('self.a == "x"', { fieldPath: ".m['key.dot']", message: 'in a map' }),
  ),
  several: withRules(whole, rule('self > 5'), rule('self > 6', { message: 'six' }), rule('self % 2 == 0')),
  error: withRules(whole, rule('10 / self > 1')),
  list: { type: 'array', maxItems: 5, items: withRules(whole, rule('self > 5')) },
  map: { type: 'object', maxProperties: 5, additionalProperties: withRules(whole, rule('self > 5')) },
  absent: withRules(objectSchema({ a: whole, b: whole }), rule('self.a < self.b')),
  has: withRules(objectSchema({ a: whole, b: whole }), rule('!has(self.a) || self.a < self.b', { message: 'a < b' })),
  names: withRules(
    objectSchema({ 'my-field': whole, 'a.b': whole, 'c/d': whole, in: whole, a__b: whole }),
    rule('self.my__dash__field + self.a__dot__b + self.c__slash__d + self.__in__ + self.a__underscores__b > 10'),
  ),
  nullable: withRules({ ...whole, nullable: true }, rule('self > 5')),
  mixed: withRules({ 'x-kubernetes-int-or-string': true }, rule('type(self) == int ? self > 5 : self == "five"')),
  set: withRules(
    { type: 'array', 'x-kubernetes-list-type': 'set', maxItems: 5, items: text },
    rule('self == ["a", "b"]', { message: 'order does not matter in sets' }),
  ),
  keyed: withRules(
    {
      type: 'array',
      maxItems: 5,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: objectSchema({ k: text, v: whole }, { required: ['k'] }),
    },
    rule('self.all(each, each.v > 0)', { messageExpression: '"first " + self[0].k' }),
  ),
  embedded: withRules(
    { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    rule('self.metadata.name == "x" && self.kind == "Pod" && self.apiVersion == "v1"'),
  ),
  time: withRules({ type: 'string', format: 'date-time' }, rule('self.getFullYear() > 2000')),
  duration: withRules({ type: 'string', format: 'duration' }, rule('self > duration("1m")')),
  bytes: withRules({ type: 'string', format: 'byte', maxLength: 50 }, rule('self == b"abc"')),
  date: withRules({ type: 'string', format: 'date' }, rule('self < timestamp("2020-01-01T00:00:00Z")')),
}

const spec = (fields: object) => ({ spec: fields })
const dry = { path: `${widgets.list}?dryRun=All` }
const rows: readonly object[] = [
  { plain: 1 },
  { plain: 9 },
  { message: 1 },
  { expression: 'y' },
  { expression: 'x' },
  { both: 'y' },
  { failing: 'y' },
  { neither: 'y' },
  { empty: 1 },
  { lines: 1 },
  { multi: 11 },
  { invalid: 1 },
  { forbidden: 1 },
  { required: 1 },
  { duplicate: 1 },
  { path: { a: 'y', b: { c: 'd' }, m: {} } },
  { path: { a: 'x' } },
  { path: {} },
  { several: 5 },
  { several: 7 },
  { error: 0 },
  { list: [1, 9, 2] },
  { map: { a: 1, 'b.c': 2, d: 9 } },
  { absent: { a: 1 } },
  { absent: { a: 1, b: 2 } },
  { has: { a: 3, b: 2 } },
  { has: { b: 2 } },
  { names: { 'my-field': 1, 'a.b': 1, 'c/d': 1, in: 1, a__b: 1 } },
  { names: { 'my-field': 9, 'a.b': 1, 'c/d': 1, in: 1, a__b: 1 } },
  { nullable: null },
  { nullable: 1 },
  { mixed: 1 },
  { mixed: 'six' },
  { mixed: 'five' },
  { set: ['b', 'a'] },
  { set: ['a'] },
  {
    keyed: [
      { k: 'b', v: 2 },
      { k: 'a', v: 1 },
    ],
  },
  { keyed: [{ k: 'b', v: -2 }] },
  { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } } },
  { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'y' } } },
  { time: '1999-01-01T00:00:00Z' },
  { time: 'nonsense' },
  { duration: '30s' },
  { bytes: 'YWJj' },
  { bytes: 'YWJk' },
  { date: '2021-01-01' },
  { plain: 1, message: 2, forbidden: 3, list: [1] },
  { plain: 'text', message: 1 },
]

const messages: Scenario = {
  name: 'messages, reasons and paths of rules',
  definitions: [definition(widgets.group, [version(objectSchema({ spec: objectSchema(properties) }))])],
  steps: [
    ...rows.map((fields) => widgets.create('w', spec(fields), dry)),
    widgets.create('w', spec({ plain: 9 })),
    ...widgets.replace('w', spec({ plain: 1 })),
    patch(widgets.path('w'), mergePatch, spec({ plain: 2 })),
    widgets.apply('one', 'w', spec({ plain: 2 }), '&force=true'),
  ],
}

const root = widgetsOf('rootrules.example.com')
const atRoot: Scenario = {
  name: 'rules at the root see metadata',
  definitions: [
    definition(root.group, [
      version(
        withRules(
          objectSchema({ spec: objectSchema({ a: whole }) }),
          rule('self.metadata.name.startsWith("w")', { message: 'the name begins with w' }),
          rule('!has(self.spec) || self.spec.a < 10', { fieldPath: '.spec.a' }),
          rule('self.kind == "Widget" && self.apiVersion == "rootrules.example.com/v1"'),
        ),
        { subresources: { status: {} } },
      ),
    ]),
  ],
  steps: [
    root.create('w', { spec: { a: 1 } }),
    root.create('x', { spec: { a: 11 } }),
    post(root.list, { ...root.object(''), metadata: { generateName: 'w-' } }),
    patch(root.path('w'), mergePatch, { spec: { a: 12 } }),
    patch(`${root.path('w')}/status`, mergePatch, { spec: { a: 12 } }),
  ],
}

const moving = widgetsOf('transitions.example.com')
const transitions: Scenario = {
  name: 'transition rules',
  definitions: [
    definition(moving.group, [
      version(
        objectSchema({
          spec: objectSchema({
            fixed: withRules(text, rule('self == oldSelf', { message: 'it cannot change' })),
            growing: withRules(
              whole,
              rule('self >= oldSelf', { messageExpression: 'oldSelf > 5 ? "below high" : "below low"' }),
            ),
            optional: withRules(
              text,
              rule('!oldSelf.hasValue() || oldSelf.value() == self', { optionalOldSelf: true, message: 'set once' }),
            ),
            created: withRules(
              text,
              rule('oldSelf.hasValue() || self == "first"', { optionalOldSelf: true, message: 'begins with first' }),
            ),
            orValue: withRules(whole, rule('self >= oldSelf.orValue(10)', { optionalOldSelf: true })),
            object: withRules(
              objectSchema({ a: text, b: text }),
              rule('has(self.a) || !has(oldSelf.a)', { message: 'a cannot be removed', fieldPath: '.a' }),
            ),
            keyed: {
              type: 'array',
              maxItems: 5,
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['k'],
              items: objectSchema(
                { k: text, v: withRules(whole, rule('self >= oldSelf', { message: 'per key' })) },
                { required: ['k'] },
              ),
            },
            map: {
              type: 'object',
              maxProperties: 5,
              additionalProperties: withRules(whole, rule('self >= oldSelf', { message: 'per entry' })),
            },
          }),
        }),
      ),
    ]),
  ],
  steps: [
    moving.create('w', {
      spec: {
        fixed: 'a',
        growing: 5,
        object: { a: 'x' },
        keyed: [
          { k: 'a', v: 5 },
          { k: 'b', v: 5 },
        ],
        map: { x: 5 },
      },
    }),
    patch(moving.path('w'), mergePatch, { spec: { fixed: 'b' } }),
    patch(moving.path('w'), mergePatch, { spec: { growing: 4 } }),
    patch(moving.path('w'), mergePatch, { spec: { growing: 6 } }),
    patch(moving.path('w'), mergePatch, { spec: { object: { a: null, b: 'y' } } }),
    patch(moving.path('w'), mergePatch, { spec: { object: null } }),
    patch(moving.path('w'), mergePatch, {
      spec: {
        keyed: [
          { k: 'b', v: 4 },
          { k: 'c', v: 1 },
        ],
      },
    }),
    patch(moving.path('w'), mergePatch, {
      spec: {
        keyed: [
          { k: 'c', v: 1 },
          { k: 'b', v: 6 },
        ],
      },
    }),
    patch(moving.path('w'), mergePatch, { spec: { map: { x: 4, y: 1 } } }),
    patch(moving.path('w'), mergePatch, { spec: { created: 'second' } }),
    patch(moving.path('w'), mergePatch, { spec: { created: 'first' } }),
    patch(moving.path('w'), mergePatch, { spec: { created: 'second' } }),
    patch(moving.path('w'), mergePatch, { spec: { optional: 'once' } }),
    patch(moving.path('w'), mergePatch, { spec: { optional: 'twice' } }),
    moving.create('v', { spec: { created: 'second' } }),
    moving.create('v', { spec: { orValue: 5 } }),
    moving.create('v', { spec: { orValue: 15 } }),
    patch(moving.path('v'), mergePatch, { spec: { orValue: 14 } }),
    get(moving.path('w')),
  ],
}

const tight = widgetsOf('ratcheting.example.com')
const loose = objectSchema({
  spec: objectSchema({
    a: { type: 'string' },
    b: { type: 'string' },
    n: { type: 'integer' },
    list: { type: 'array', items: { type: 'string' } },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    keyed: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: objectSchema({ k: text, v: { type: 'string' } }, { required: ['k'] }),
    },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    inner: objectSchema({ x: { type: 'string' }, y: { type: 'string' } }),
    ruled: { type: 'integer' },
  }),
})
const short = { type: 'string', maxLength: 3 }
const tightened = objectSchema({
  spec: objectSchema({
    a: short,
    b: { type: 'string', enum: ['x'] },
    n: { type: 'integer', minimum: 10 },
    list: { type: 'array', items: short, maxItems: 1 },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: short },
    keyed: {
      type: 'array',
      maxItems: 9,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: objectSchema({ k: text, v: short }, { required: ['k'] }),
    },
    map: { type: 'object', maxProperties: 9, additionalProperties: short },
    inner: objectSchema({ x: short, y: short }, { required: ['z'] }),
    ruled: withRules(whole, rule('self > 10', { message: 'above ten' })),
  }),
})
const ratcheting: Scenario = {
  name: 'values that were invalid before an update may stay',
  definitions: [definition(tight.group, [version(loose)])],
  steps: [
    tight.create('w', {
      spec: {
        a: 'too long',
        b: 'y',
        n: 1,
        list: ['too long', 'ok'],
        set: ['too long'],
        keyed: [
          { k: 'a', v: 'too long' },
          { k: 'b', v: 'too long' },
        ],
        map: { p: 'too long' },
        inner: { x: 'too long', y: 'too long' },
        ruled: 1,
      },
    }),
    patch(`${definitionsPath}/widgets.${tight.group}`, jsonPatch, [
      { op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: tightened },
    ]),
    tight.create(
      'other',
      { spec: { a: 'too long' } },
      { until: ({ status }) => status === 422, path: `${tight.list}?dryRun=All` },
    ),
    get(tight.path('w')),
    patch(tight.path('w'), mergePatch, { metadata: { labels: { a: 'b' } } }),
    patch(tight.path('w'), mergePatch, { spec: { b: 'y' } }),
    patch(tight.path('w'), mergePatch, { spec: { a: 'also too long' } }),
    patch(tight.path('w'), mergePatch, { spec: { b: 'z' } }),
    patch(tight.path('w'), mergePatch, { spec: { n: 2 } }),
    patch(tight.path('w'), mergePatch, { spec: { list: ['too long'] } }),
    patch(tight.path('w'), mergePatch, { spec: { list: ['too long', 'ok', 'new'] } }),
    patch(tight.path('w'), mergePatch, { spec: { set: ['too long', 'ok'] } }),
    patch(tight.path('w'), mergePatch, { spec: { keyed: [{ k: 'b', v: 'too long' }] } }),
    patch(tight.path('w'), mergePatch, { spec: { keyed: [{ k: 'c', v: 'too long' }] } }),
    patch(tight.path('w'), mergePatch, { spec: { map: { q: 'ok' } } }),
    patch(tight.path('w'), mergePatch, { spec: { map: { r: 'too long' } } }),
    patch(tight.path('w'), mergePatch, { spec: { inner: { y: 'ok' } } }),
    patch(tight.path('w'), mergePatch, { spec: { ruled: 2 } }),
    patch(tight.path('w'), mergePatch, { spec: { ruled: 1, map: { s: 'ok' } } }),
    patch(tight.path('w'), mergePatch, { spec: { a: 'ok', b: 'x', n: 20, ruled: 20 } }),
    patch(tight.path('w'), mergePatch, { spec: { a: 'too long', ruled: 1 } }),
  ],
}

const stricter = widgetsOf('stricter.example.com')
const withoutRatcheting: Scenario = {
  name: 'errors that an update does not forgive',
  definitions: [definition(stricter.group, [version(objectSchema({ spec: objectSchema({ a: whole, b: whole }) }))])],
  steps: [
    stricter.create('w', { spec: { a: 1 } }),
    patch(`${definitionsPath}/widgets.${stricter.group}`, jsonPatch, [
      {
        op: 'replace',
        path: '/spec/versions/0/schema/openAPIV3Schema',
        value: objectSchema({
          spec: objectSchema(
            {
              a: withRules(whole, rule('self > 10 && oldSelf.orValue(0) >= 0', { optionalOldSelf: true })),
              b: whole,
              c: whole,
            },
            { required: ['c'] },
          ),
        }),
      },
    ]),
    stricter.create(
      'other',
      { spec: {} },
      { until: ({ status }) => status === 422, path: `${stricter.list}?dryRun=All` },
    ),
    patch(stricter.path('w'), mergePatch, { metadata: { labels: { a: 'b' } } }),
    patch(stricter.path('w'), mergePatch, { spec: { b: 1 } }),
    patch(stricter.path('w'), mergePatch, { spec: { c: 1 } }),
    patch(stricter.path('w'), mergePatch, { spec: { c: 1, a: 20 } }),
    patch(stricter.path('w'), mergePatch, { spec: { c: null } }),
  ],
}

const costly = widgetsOf('costs.example.com')
const strings = (count: number) => Array.from({ length: count }, (_, index) => `${index}`.padStart(100, 'x'))
const expensive = rule('self.all(x, self.all(y, self.all(z, x + y + z != "b")))')
const stringList = (maxItems: number) => ({ type: 'array', maxItems, items: { type: 'string', maxLength: 100 } })
const runtime: Scenario = {
  name: 'the cost of evaluating rules is limited',
  definitions: [
    definition(costly.group, [
      version(
        objectSchema({
          one: withRules(stringList(30), expensive),
          many: withRules(stringList(20), ...Array.from({ length: 25 }, () => expensive)),
        }),
      ),
    ]),
  ],
  steps: [
    costly.create('a', { one: ['a'], many: ['b', 'c'] }),
    costly.create('b', { one: strings(30) }),
    costly.create('c', { many: strings(20) }),
  ],
}

export const rules: readonly Scenario[] = [messages, atRoot, transitions, ratcheting, withoutRatcheting, runtime]
