import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Brand } from '../brand.ts'
import { parseCidr } from './cidr.ts'
import { commandText, joinCommandText, parseElement, parseIdentifier } from './command-text.ts'
import { parseIp } from './ip-address.ts'
import { parsePort } from './port.ts'

const address = parseIp('192.0.2.1')
const range = parseCidr('10.0.0.0/8')
const port = parsePort(80)
ok(address !== undefined && range !== undefined && port !== undefined)

test('the holes of a command are parsed types, numbers and literals', () => {
  const keyword = port > 79 ? 'via' : 'dev'
  equal(commandText`route replace ${range} ${keyword} ${address}`, 'route replace 10.0.0.0/8 via 192.0.2.1')
  const key = commandText`tcp . ${port}`
  equal(commandText`add element { ${key}, ${1 << 4} }`, 'add element { tcp . 80, 16 }')
  equal(commandText`list`, 'list')
  equal(joinCommandText([range, address, key], ', '), '10.0.0.0/8, 192.0.2.1, tcp . 80')
})

test('the compiler rejects strings that were not parsed', () => {
  const name: string = '10.0.0.0/8\nnetns exec'
  const uid = 'u' as Brand<string, 'Uid'>
  // @ts-expect-error: any string
  ok(commandText`route replace ${name}`)
  // @ts-expect-error: a branded string that no parser of this folder has made
  ok(commandText`route replace ${uid}`)
  // @ts-expect-error: one of several holes
  ok(commandText`route replace ${range} via ${name}`)
  // @ts-expect-error: a template without the tag
  ok(commandText`route replace ${`10.0.0.0/8 via ${name}`}`)
  // @ts-expect-error: any string
  ok(joinCommandText([name], ', '))
})

const identifiers: readonly [text: string, isIdentifier: boolean][] = [
  ['a', true],
  ['clients-ns/web/80/tcp/IPv4/10s', true],
  ['a'.repeat(255), true],
  ['a'.repeat(256), false],
  ['', false],
  ['1a', false],
  ['-a', false],
  ['a b', false],
  ['a;b', false],
  ['a\n', false],
  ['a{', false],
  ['ä', false],
]

for (const [text, isIdentifier] of identifiers)
  test(`${JSON.stringify(text.slice(0, 40))} (${text.length}) is a name in nftables: ${isIdentifier}`, () =>
    equal(parseIdentifier(text), isIdentifier ? text : undefined))

test('an element of a set as nft prints it', () => {
  equal(parseElement('192.0.2.1 expires 59s'), '192.0.2.1 expires 59s')
  equal(parseElement('192.0.2.1; flush ruleset'), undefined)
})
