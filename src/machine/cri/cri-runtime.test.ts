// CriRuntime against a runtime whose objects vanish between two calls.
import { equal } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodeHttp2 } from '../../platform/node/http/http2-client.ts'
import type { GrpcMethod } from '../../wire/grpc/grpc-channel.ts'
import { serveGrpc, type ServedMethods } from '../../wire/grpc/grpc-server.harness.ts'
import { encodeProto } from '../../wire/protobuf/encode-proto.ts'
import type { Message, ProtoInput } from '../../wire/protobuf/proto-message.ts'
import { CriRuntime } from './cri-runtime.ts'
import { runtimeService } from './methods.ts'
import { podUidLabel } from './status-messages.ts'

const { signal } = new AbortController()
const notFound = 5

const returns = <Q extends Message, A extends Message>(
  { path, response }: GrpcMethod<Q, A>,
  message: ProtoInput<A>,
): ServedMethods => ({
  [path]: (call) => {
    call.send(encodeProto(response, message))
    call.finish(0)
  },
})

test('a sandbox that is removed between the list and its status is no error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cri-'))
  const path = join(folder, 'cri.sock')
  await using server = await serveGrpc(
    {
      ...returns(runtimeService.version, { runtimeName: 'containerd', runtimeVersion: '2.0.0' }),
      ...returns(runtimeService.listPodSandbox, { items: [{ id: 's', labels: { [podUidLabel]: 'uid-1' } }] }),
      ...returns(runtimeService.listContainers, {}),
      [runtimeService.podSandboxStatus.path]: (call) => call.finish(notFound, 'sandbox s is not found'),
    },
    { path },
  )
  const deps = { http2: nodeHttp2, clock: realClock, log: silentLog }
  const runtime = await CriRuntime.connect(path, deps, signal)
  equal(await runtime.inspect('uid-1', signal), undefined)
  runtime.close()
  equal(server.connections, 1)
  rmSync(folder, { recursive: true })
})
