// The log line of a failed request.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '../base/observability/log.ts'
import { systemRandom } from '../base/random/random.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { handleHttp } from './http-handler.ts'
import type { ApiServer } from './server.ts'
import { KindCatalogue } from './kinds/kind-catalogue.ts'
import { inlineYaml } from './http/yaml-parser.ts'

test('the command line of a failed exec is not logged', async () => {
  const clock = new VirtualClock()
  let logged = ''
  const log = createLog({ clock, level: 'info', format: 'json', write: (text) => void (logged += text) })
  const handle = () => Promise.reject(new Error('the kubelet is gone'))
  const server = {
    handle,
    catalogue: new KindCatalogue(),
    calls: { watchListTimer: () => undefined },
  } as unknown as ApiServer
  const { status } = await handleHttp(
    {
      method: 'GET',
      target: '/api/v1/namespaces/a/pods/p/exec?command=mysql&command=--password%3Dhunter2',
      headers: { connection: 'Upgrade', upgrade: 'websocket' },
      headerValues: () => [],
      remoteAddress: '',
      certificate: undefined,
      signal: new AbortController().signal,
      cancel: () => {},
      upgrade: true,
      body: () => new Uint8Array(),
    },
    { server, clock, random: systemRandom, log, yaml: inlineYaml },
  )
  equal(status, 500)
  const { method, path, error } = JSON.parse(logged) as Record<string, string>
  deepEqual([method, path, error], ['GET', '/api/v1/namespaces/a/pods/p/exec', 'the kubelet is gone'])
})
