// Rules of single texts: what is valid, and upstream's messages for what is not.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { fieldErrorText } from '../../schema/validation/field-error.ts'
import { configKeyErrors } from './config-key.ts'
import { validateDomainPrefixedPath } from './domain-prefixed-path.ts'
import { validateDescendingPath, validateFilePath } from './local-path-rules.ts'
import { dns1035LabelErrors, pathSegmentErrors, qualifiedNameErrors } from './names.ts'
import { specialAddressErrors } from './special-address-rules.ts'

const withoutExamples = (detail: string): string => detail.replace(/ \((e\.g\.|regex) .*$/, '')

type Case = readonly [text: string, errors: readonly string[]]

function testTexts(name: string, errorsOf: (text: string) => readonly string[], cases: readonly Case[]): void {
  for (const [text, errors] of cases)
    test(`${name}: ${JSON.stringify(text.slice(0, 40))}`, () => {
      deepEqual(errorsOf(text).map(withoutExamples), errors)
    })
}

const keyForm = `a valid config key must consist of alphanumeric characters, '-', '_' or '.'`
testTexts('a key of a ConfigMap', configKeyErrors, [
  ['a_B-1.txt', []],
  ['k'.repeat(253), []],
  ['k'.repeat(254), ['must be no more than 253 characters']],
  ['', [keyForm]],
  ['a/b', [keyForm]],
  ['.', [`must not be '.'`]],
  ['..', [`must not be '..'`]],
  ['..a', [`must not start with '..'`]],
  ['.a', []],
])

const unprefixed = (text: string) =>
  `name: Invalid value: "${text}": must be a domain-prefixed path (such as "acme.io/foo")`
testTexts('a domain-prefixed path', (text) => validateDomainPrefixedPath(text, 'name').map(fieldErrorText), [
  ['example.com/a/b%20', []],
  ['', ['name: Required value']],
  ['example.com', [unprefixed('example.com')]],
  ['/a', [unprefixed('/a')]],
  ['example.com/', [unprefixed('example.com/')]],
  ['example.com/a b', ['name: Invalid value: "a b": Invalid path']],
  [
    'A_/?',
    [
      `name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`,
      'name: Invalid value: "?": Invalid path',
    ],
  ],
])

const relative = (text: string) => `path: Invalid value: "${text}": must be a relative path`
const backsteps = (text: string) => `path: Invalid value: "${text}": must not contain '..'`
testTexts('a path in a volume', (text) => validateDescendingPath(text, 'path').map(fieldErrorText), [
  ['a/b', []],
  ['..a/b', []],
  ['/a', [relative('/a')]],
  ['a/../b', [backsteps('a/../b')]],
  ['/..', [relative('/..'), backsteps('/..')]],
])
testTexts('a file in a volume', (text) => validateFilePath(text, 'path').map(fieldErrorText), [
  ['a/..b', []],
  ['..a', [`path: Invalid value: "..a": must not start with '..'`]],
  ['../a', [backsteps('../a')]],
  ['/a', [relative('/a')]],
])

const labelForm = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character`
testTexts('a name of a Service', dns1035LabelErrors, [
  ['a-1', []],
  ['a'.repeat(63), []],
  ['a'.repeat(64), ['must be no more than 63 characters']],
  ['1a', [labelForm]],
  [`1${'a'.repeat(63)}`, ['must be no more than 63 characters', labelForm]],
])

testTexts('a path segment', pathSegmentErrors, [
  ['system:a', []],
  ['.', [`may not be '.'`]],
  ['..', [`may not be '..'`]],
  ['a/b%', [`may not contain '/'`, `may not contain '%'`]],
])

const nameForm = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`
testTexts('a qualified name', qualifiedNameErrors, [
  ['example.com/My.name_1', []],
  ['a'.repeat(64), ['name part must be no more than 63 bytes']],
  ['/a', ['prefix part must be non-empty']],
  ['example.com/', ['name part must be non-empty', nameForm]],
  [
    'Example/a',
    [
      `prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`,
    ],
  ],
])

test('valid names remain valid when more are used than are remembered', () => {
  const names = Array.from({ length: 10_002 }, (_, index) => `example.com/name-${index}`)
  for (const name of [...names, ...names.slice(0, 2)]) deepEqual(qualifiedNameErrors(name), [])
  deepEqual(qualifiedNameErrors('-').map(withoutExamples), [nameForm])
})

const loopback = ['may not be in the loopback range (127.0.0.0/8, ::1/128)']
const linkLocal = ['may not be in the link-local range (169.254.0.0/16, fe80::/10)']
const linkLocalMulticast = ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)']
testTexts('an address of an endpoint', specialAddressErrors, [
  ['10.0.0.1', []],
  ['2001:db8::1', []],
  ['no address', []],
  ['0.0.0.0', ['may not be unspecified (0.0.0.0)']],
  ['::', ['may not be unspecified (::)']],
  ['127.0.0.1', loopback],
  ['127.255.0.1', loopback],
  ['::1', loopback],
  ['::ffff:127.0.0.1', loopback],
  ['128.0.0.1', []],
  ['169.254.0.1', linkLocal],
  ['169.255.0.1', []],
  ['fe80::1', linkLocal],
  ['224.0.0.5', linkLocalMulticast],
  ['224.0.1.5', []],
  ['ff02::1', linkLocalMulticast],
])
