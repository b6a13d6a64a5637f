import { equal, notEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { connect, type ConnectionOptions } from 'node:tls'
import { realClock } from '../../../base/time/clock.ts'
import { authority, serving } from '../http/listener.harness.ts'
import { createListeners } from '../http/listener.ts'
import { serverNameContexts } from './tls-server.ts'

const named = (name: string) =>
  authority.issue({ subject: { commonName: name, organizations: [] }, uses: ['server'], dnsNames: [name] })
const broken = { certificate: 'x', key: 'y' }

test('a context is made when a client asks for its name, and once for each certificate', () => {
  const asked: string[] = []
  const pairs = new Map([
    ['a.com', named('a.com')],
    ['b.com', named('b.com')],
  ])
  const contextOf = serverNameContexts({
    certificate: '',
    key: '',
    clientAuthorities: {},
    certificateOf: (name) => (asked.push(name), name === 'broken' ? broken : pairs.get(name)),
  })
  equal(asked.length, 0)
  const first = contextOf('A.com')
  equal(contextOf('a.com'), first)
  notEqual(contextOf('b.com'), first)
  equal(contextOf('c.com'), undefined)
  throws(() => contextOf('broken'))
  pairs.set('a.com', named('a.com'))
  notEqual(contextOf('a.com'), first)
  equal(asked.join(), 'a.com,a.com,b.com,c.com,broken,a.com')
})

test('a certificate that cannot be used fails only the handshakes for its name', async () => {
  const pair = named('a.com')
  const listener = await createListeners(realClock).listen({
    host: '127.0.0.1',
    port: 0,
    handle: () => ({ status: 200, headers: {}, body: '' }),
    tls: {
      certificate: serving.certificate,
      key: serving.key,
      clientAuthorities: {},
      certificateOf: (name) => (name === 'a.com' ? pair : name === 'broken.com' ? broken : undefined),
    },
  })
  const subject = async (servername: string): Promise<string> => {
    const options: ConnectionOptions = {
      host: '127.0.0.1',
      port: listener.port,
      servername,
      rejectUnauthorized: false,
    }
    const socket = connect(options)
    const { promise, resolve } = Promise.withResolvers<string>()
    socket.on('secureConnect', () => resolve(socket.getPeerCertificate().subject.CN as string))
    socket.on('error', () => resolve('failed'))
    socket.on('close', () => resolve('failed'))
    const found = await promise
    socket.destroy()
    return found
  }
  const names = ['broken.com', 'a.com', 'other.com']
  const found: string[] = []
  for (const name of names) found.push(await subject(name))
  equal(found.join(), 'failed,a.com,server')
  await listener.close(0)
})
