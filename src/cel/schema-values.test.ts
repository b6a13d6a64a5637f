// Values of a custom resource in rules: the schema determines the types of texts and numbers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { int32, intOrString, list, map, message, time, type Message } from '../schema/descriptor/field.ts'
import { standardEnvironment } from './library/standard.ts'
import { objectMessageType } from './types/message-type.ts'
import { compile } from './program.ts'
import { escapedName, structuralType } from './types/structural-type.ts'
import { usesIdentifier } from './syntax/uses-identifier.ts'
import { parse } from './syntax/parser.ts'
import { dynType, typeText } from './types/cel-type.ts'
import { fromJson } from './values/json-value-conversion.ts'

const schema = {
  type: 'object',
  properties: {
    count: { type: 'integer' },
    share: { type: 'number' },
    when: { type: 'string', format: 'date-time' },
    wait: { type: 'string', format: 'duration' },
    data: { type: 'string', format: 'byte' },
    port: { 'x-kubernetes-int-or-string': true },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    'dashed-name': { type: 'string' },
    namespace: { type: 'string' },
    rows: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } },
  },
}
const self = structuralType(schema, 'self', true)
const value = {
  kind: 'Row',
  metadata: { name: 'a' },
  count: 2,
  share: 2,
  when: '2030-01-01T00:00:00Z',
  wait: '90s',
  data: 'aGk=',
  port: 'http',
  labels: { x: 'y' },
  'dashed-name': 'd',
  namespace: 'n',
  rows: [{ id: 1 }, { id: 2 }],
}

test('a schema determines the types of texts and numbers', () => {
  const holding = [
    'self.count / 2 == 1',
    'self.share / 4.0 == 0.5',
    `self.when < timestamp('2031-01-01T00:00:00Z') && self.when.getFullYear() == 2030`,
    `self.wait == duration('1m30s')`,
    `self.data == b'hi'`,
    `self.port == 'http' && type(self.port) == string`,
    `self.labels.x == 'y' && self.labels.size() == 1 && 'x' in self.labels`,
    `self.dashed__dash__name == 'd' && self.__namespace__ == 'n'`,
    'self.rows.map(r, r.id) == [1, 2] && self.rows == dyn([{"id": 1}, {"id": 2}])',
    `self.metadata.name == 'a' && self.kind == 'Row'`,
  ]
  const environment = standardEnvironment.with({ self: self?.type ?? dynType })
  for (const expression of holding) {
    const program = compile(expression, environment)
    assert.equal(program.evaluate({ self: fromJson(value, self?.type) }, 10_000).value, true, expression)
  }
})

test('a message determines the types of its fields, even if it contains itself', () => {
  const node: Message = message('Node', {
    when: time(1),
    count: int32(2),
    port: intOrString(3),
    tags: map(4, 'string'),
    get children() {
      return list(5, node)
    },
  })
  const environment = standardEnvironment.with({ object: objectMessageType(node) })
  const holding = `object.kind == 'Node' && object.children[0].children[0].count == 1 && object.when.getFullYear() == 2030 && object.tags.x == 'y' && object.port == 80`
  const object = {
    kind: 'Node',
    when: '2030-01-01T00:00:00Z',
    port: 80,
    tags: { x: 'y' },
    children: [{ children: [{ count: 1 }] }],
  }
  const program = compile(holding, environment)
  assert.equal(program.evaluate({ object: fromJson(object, objectMessageType(node)) }, 10_000).value, true)
  assert.throws(() => compile('object.childs', environment), /undefined field 'childs'/)
})

test('names that the language does not allow are escaped', () => {
  const names = ['plain', 'a-b', 'a.b/c', 'a__b', 'in', '9lives', 'ö'].map((name) => escapedName(name))
  assert.deepEqual(names, [
    'plain',
    'a__dash__b',
    'a__dot__b__slash__c',
    'a__underscores__b',
    '__in__',
    undefined,
    undefined,
  ])
})

test('an expression is searched for a name', () => {
  const found = [
    'oldSelf.x > 1',
    '[1].all(y, y == oldSelf)',
    'cel.bind(a, oldSelf, a)',
    'f({1: oldSelf})',
    'self.oldSelf',
  ]
  assert.deepEqual(
    found.map((each) => usesIdentifier(parse(each), 'oldSelf')),
    [true, true, true, true, false],
  )
})

test('a schema without a type has no type in expressions', () => {
  assert.equal(structuralType({ properties: {} }, 'self', false), undefined)
  assert.equal(
    typeText(structuralType({ type: 'array', items: { type: 'integer' } }, 'self', false)?.type ?? dynType),
    'list(int)',
  )
})
