// Formats of texts. The rows of test/facts/structural-values.json, which upstream answered, are more complete.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { hasFormat, isKnownFormat } from './value-formats.ts'

const rows: [format: string, valid: string[], invalid: string[]][] = [
  ['byte', ['YQ==', 'YWJj'], ['', 'YQ', 'YWJj\n']],
  ['cidr', ['10.0.0.1/8', '010.0.0.0/08', '::/0'], ['10.0.0.0/33', '10.0.0.0', '10.0.0.0/+8']],
  ['date', ['2000-02-29'], ['1900-02-29', '2020-13-01', '2020-1-1']],
  [
    'date-time',
    ['2020-01-01t00:00:00.5z', '2020-01-01T00:00:00-99:99'],
    ['2020-01-01T24:00:00Z', '2020-02-30T00:00:00Z'],
  ],
  ['duration', ['1h30m', '2 weeks', 'P1D', '1.s', '0'], ['1', '1y', '1 hrs', '99999999999999999999s']],
  [
    'email',
    ['a@b', 'Name <a@b.c>', '"a b"@c', 'a@b (x)', 'g: a@b;'],
    ['a b@c', '.a@b', '(x)a@b', 'a@b (x', '<a@b', ''],
  ],
  ['hostname', ['a', 'example.com', 'a-', 'é'], ['ab-c', 'a.b', 'a_b', `${'a'.repeat(64)}.com`]],
  ['ipv4', ['1.2.3.04', '::ffff:1.2.3.4'], ['1.2.3', '::1']],
  ['ipv6', ['::1', '::1.2.3.4'], ['1.2.3.4', 'fe80::1%eth0']],
  ['isbn', ['0-8044-2957-X', '978 0306406157'], ['0306406153', '080442957x']],
  ['mac', ['00:00:5e:00:53:01', '0000.5e00.5301', '02005e1000000001'], ['00:00-5e:00:53:01', '00:00:5e:00:53']],
  [
    'uri',
    ['http://a:99999', '/a b', 'mailto:x', '*', 'http://[fe80::1%25eth0]'],
    ['a', 'http://a b', '/%zz', 'http://a:x'],
  ],
  ['uuid4', ['6ba7b8109dad41d180b400c04fd430c8'], ['6ba7b810-9dad-11d1-80b4-00c04fd430c8']],
]
for (const [format, valid, invalid] of rows)
  test(`texts of the format ${format}`, () => {
    deepEqual(
      [...valid, ...invalid].filter((text) => hasFormat(format, text)),
      valid,
    )
  })

test('dashes in names of formats do not matter, and unknown formats accept everything', () => {
  deepEqual(['date-time', 'datetime', 'k8sshortname', 'u-r-i'].map(isKnownFormat), [true, true, true, true])
  deepEqual(['Date', 'date_time', 'zip', 'toString', '__proto__'].map(isKnownFormat), [
    false,
    false,
    false,
    false,
    false,
  ])
  equal(hasFormat('zip', 'x'), true)
})
