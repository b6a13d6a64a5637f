// A browser loads the page over HTTP/2, without a certificate. Unlike other anonymous clients it may send many requests over one
// connection.
import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import { after, before, test } from 'node:test'
import { startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { logIn, loginCode } from './browser.ts'

let cluster: TestCluster
before(async () => (cluster = await startCluster({ nodes: 0, https: true })))
after(() => cluster.stop())

/** Sends the requests one after the other; returns their statuses, and whether the server closes the connection. */
async function over(
  paths: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<[statuses: number[], isClosed: boolean]> {
  const { origin, ca } = await loginCode(cluster.kubeconfig)
  const session = connect(origin, { ca })
  let isClosed = false
  session.on('goaway', () => (isClosed = true))
  try {
    const statuses: number[] = []
    for (const path of paths) statuses.push(await statusOf(session, { ':path': path, ...headers }))
    // The acknowledgement follows everything that the server sent before.
    if (!session.closed) await new Promise((resolve) => session.ping(resolve))
    return [statuses, isClosed]
  } finally {
    session.destroy()
  }
}

async function statusOf(session: ClientHttp2Session, headers: Readonly<Record<string, string>>): Promise<number> {
  const stream = session.request(headers)
  const [answer] = (await once(stream, 'response')) as [Record<string, unknown>]
  stream.resume()
  await once(stream, 'close')
  return Number(answer[':status'])
}

test('files of the page keep the connection open', async () => {
  deepEqual(await over(['/ui/', '/ui/login', '/ui/']), [[200, 200, 200], false])
})

test('so do requests with a session, and no others', async () => {
  const { cookie } = await logIn(cluster.kubeconfig)
  deepEqual(await over(['/api/v1/pods', '/api/v1/namespaces/default/pods/none'], { cookie }), [[200, 404], false])
  const [, isClosed] = await over(['/version'])
  equal(isClosed, true)
  deepEqual(await over(['/api/v1/pods'], { cookie: `${cookie}0` }), [[401], true])
  deepEqual(await over(['/livez'], { cookie: `${cookie}0` }), [[401], true])
  deepEqual(await over(['/ui/none']), [[404], true])
})
