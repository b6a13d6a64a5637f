// Objects with more errors than a response can list, and than the stack has room for.
import { equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../server.harness.ts'

test('an object with very many errors is rejected as invalid, and the response is bounded', async () => {
  await using server = await startServer()
  const finalizers = Array.from({ length: 190_000 }, (_, index) => `#${index}`)
  const { status, body } = await server.call('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'a', finalizers },
  })
  equal(status, 422)
  match(body.message, /, and \d+ more\]$/)
  ok(body.message.length < 2 << 20, `${body.message.length} characters`)
})
