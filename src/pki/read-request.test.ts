import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { nameOf } from './certificate.ts'
import { integer, sequence } from './der.ts'
import { pem } from './pem.ts'
import { readRequestSubject } from './read-request.ts'

const requestOf = (...info: Uint8Array[]): string => pem('CERTIFICATE REQUEST', sequence(sequence(...info)))
const version = integer(Uint8Array.of(0))

test('a request says for whom it is', () => {
  const subjects = [
    { commonName: 'jane', organizations: ['dev', 'ops'] },
    { commonName: 'system:node:a', organizations: [] },
  ]
  for (const subject of subjects) deepEqual(readRequestSubject(requestOf(version, nameOf(subject))), subject)
})

test('what is no request, or half of one, is refused', () => {
  throws(() => readRequestSubject('no pem'), /there is no PEM/)
  throws(() => readRequestSubject(requestOf(version)), /names no subject/)
  throws(() => readRequestSubject(pem('CERTIFICATE REQUEST', Uint8Array.of(0x30, 0x05, 0x01))), /cut off/)
})
