import { equal } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { tlsFailure } from './tls-failure.ts'

const unknownAuthority = 'tls: failed to verify certificate: x509: certificate signed by unknown authority'

const rows: readonly (readonly [code: string, message: string, text: string | undefined])[] = [
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', unknownAuthority],
  ['CERT_SIGNATURE_FAILURE', 'certificate signature failure', unknownAuthority],
  ['CERT_HAS_EXPIRED', '', 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'another name', 'tls: failed to verify certificate: x509: another name'],
  ['EPROTO', 'error:0A0000BF:SSL routines::other', 'tls: handshake failed'],
  ['ERR_SSL_NO_SHARED_CIPHER', 'no shared cipher', 'tls: handshake failed'],
  ['EPROTO', 'error:0A000000:SSL routines::SSL alert number 255', 'remote error: tls: alert(255)'],
  ['ECONNREFUSED', 'connect ECONNREFUSED', undefined],
]
test('an error without a code is not one of TLS', () => equal(tlsFailure(new Error('closed')), undefined))

for (const [code, message, text] of rows)
  test(`the failure of TLS: ${code}: ${message}`, () =>
    equal(tlsFailure(Object.assign(new Error(message), { code })), text))

const alert = (number: number): Buffer => Buffer.from([0x15, 3, 3, 0, 2, 2, number])
const responses: readonly (readonly [what: string, bytes: Buffer, text: string])[] = [
  ['an internal error', alert(80), 'remote error: tls: internal error'],
  ['a required certificate', alert(116), 'remote error: tls: certificate required'],
  [
    'plain HTTP',
    Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
    'tls: first record does not look like a TLS handshake',
  ],
]
for (const [what, bytes, text] of responses)
  test(`the failure of TLS with a server that responds with ${what}`, async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(bytes))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
    const [error] = (await once(socket, 'error')) as [Error]
    server.close()
    equal(tlsFailure(error), text)
  })
