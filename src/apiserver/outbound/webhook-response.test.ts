import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { parseWebhookResponse } from './webhook-response.ts'

const parse = (status: number, contentType: string, text: string) => parseWebhookResponse({ status, contentType, text })

for (const contentType of ['', 'application/json', 'text/plain; charset=utf-8', 'text/html', 'application/xml'])
  test(`a successful response is JSON with the content type ${JSON.stringify(contentType)}`, () =>
    deepEqual(parse(200, contentType, '{"a":1}'), { a: 1 }))

const failures: readonly (readonly [string, number, string, string, string | RegExp])[] = [
  ['text that is not JSON', 200, 'application/json', 'no', /^couldn't get version\/kind; json parse error: /],
  ['a status with a fixed message', 404, 'text/plain', 'no', 'the server could not find the requested resource'],
  [
    'a server error with text',
    500,
    'text/plain',
    'it fell\n',
    'an error on the server ("it fell") has prevented the request from succeeding',
  ],
  [
    'a server error with another body',
    500,
    'application/json',
    '{}',
    'an error on the server ("unknown") has prevented the request from succeeding',
  ],
  ['a refusal with text', 403, 'text/plain', 'go away', 'go away'],
  [
    'a redirect',
    302,
    'text/plain',
    '',
    'the server responded with the status code 302 but did not return more information',
  ],
]

for (const [name, status, contentType, text, message] of failures)
  test(`a failure: ${name}`, () => throws(() => parse(status, contentType, text), { message }))
