import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { Unreachable } from '../../platform/http/outbound.ts'
import { failureText } from './failure-text.ts'

const networkError = (code: string, message = 'failed', more: object = {}): Error =>
  Object.assign(new Error(message), { code, ...more })

const unknownAuthority = 'tls: failed to verify certificate: x509: certificate signed by unknown authority'

const rows: readonly (readonly [what: string, error: Error, text: string])[] = [
  [
    'a refused connection',
    networkError('ECONNREFUSED', '', { address: '127.0.0.1', port: 443 }),
    'dial tcp 127.0.0.1:443: connect: connection refused',
  ],
  [
    'a certificate of another name',
    networkError('ERR_TLS_CERT_ALTNAME_INVALID', 'another name'),
    'tls: failed to verify certificate: x509: another name',
  ],
  ['a self-signed certificate', networkError('DEPTH_ZERO_SELF_SIGNED_CERT'), unknownAuthority],
  ['a wrong signature', networkError('CERT_SIGNATURE_FAILURE'), unknownAuthority],
  ['a timeout', new Error('no response within 5 s'), 'context deadline exceeded'],
  ['a socket that was closed', networkError('UND_ERR_SOCKET'), 'EOF'],
  ['a connection that was reset', networkError('ECONNRESET'), 'EOF'],
  ['another error', new Error('out of order'), 'out of order'],
  ['a request on its own connection', new Unreachable('no route'), 'no route'],
  [
    'a request on its own connection, with a cause',
    new Unreachable('no route', { cause: networkError('SELF_SIGNED_CERT_IN_CHAIN') }),
    unknownAuthority,
  ],
]

for (const [what, error, text] of rows) test(`why a request failed: ${what}`, () => equal(failureText(error), text))
