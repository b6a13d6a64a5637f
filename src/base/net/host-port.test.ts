import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { hostOfUrl, isLoopbackHost, joinHostPort, urlHost } from './host-port.ts'

test('only IPv6 addresses are in brackets', () => {
  equal(joinHostPort('10.0.0.1', 80), '10.0.0.1:80')
  equal(joinHostPort('fd00::1', '80'), '[fd00::1]:80')
  equal(joinHostPort('example.com', 443), 'example.com:443')
  equal(urlHost('fd00::1'), '[fd00::1]')
})

test('the host of a URL has no brackets', () => {
  equal(hostOfUrl(new URL('https://[fd00::1]:6443/x')), 'fd00::1')
  equal(hostOfUrl(new URL('https://example.com')), 'example.com')
})

for (const [host, isHere] of [
  ['localhost', true],
  ['127.0.0.1', true],
  ['::1', true],
  ['localhost.example.com', false],
  ['127.0.0.1.example.com', false],
  ['10.0.0.1', false],
] as const)
  test(`connections to ${host} ${isHere ? 'stay on' : 'leave'} this machine`, () => equal(isLoopbackHost(host), isHere))
