import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { serverChoicesOf } from './server-options.ts'

const limitsOf = (flags: Parameters<typeof serverChoicesOf>[0]) => serverChoicesOf(flags, { HOME: '/home' }).limits

test('the connection limits have defaults and flags', () => {
  deepEqual(limitsOf({}), {
    connectionsMax: 10_000,
    connectionsPerClientMax: 2_500,
    heldBytesMax: 128 << 20,
    heldBytesPerClientMax: 64 << 20,
    heldBytesPerConnectionMax: 16 << 20,
  })
  deepEqual(
    limitsOf({ 'max-connections': '20', 'max-connections-per-client': '5', 'max-inflight-megabytes': '4096' }),
    {
      connectionsMax: 20,
      connectionsPerClientMax: 5,
      heldBytesMax: 2 ** 32,
      heldBytesPerClientMax: 2 ** 31,
      heldBytesPerConnectionMax: 2 ** 29,
    },
  )
})

for (const flag of ['max-connections', 'max-connections-per-client', 'max-inflight-megabytes'])
  for (const value of ['0', '-1', 'many', '1e9', '9999999'])
    test(`--${flag} ${value} is refused`, () =>
      throws(() => limitsOf({ [flag]: value }), {
        message: new RegExp(`^--${flag} "${value}" is not a number from 1 `),
      }))

test('the collector of spans has an address with http or https', () => {
  const endpointOf = (text: string) => serverChoicesOf({ 'otlp-endpoint': text }, { HOME: '/home' }).otlpEndpoint?.href
  deepEqual(endpointOf('http://127.0.0.1:4318'), 'http://127.0.0.1:4318/')
  for (const text of ['127.0.0.1:4318', 'localhost', 'ftp://127.0.0.1', ''])
    throws(() => endpointOf(text), { message: /^--otlp-endpoint ".*" is not an address such as/ })
})
