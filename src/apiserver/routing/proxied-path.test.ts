// The forwarded part of the path of a proxied request, as in kube-apiserver v1.36.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { noExtensions } from '../request/extension.ts'
import { KindCatalogue } from '../kinds/kind-catalogue.ts'
import { requestTargetOf } from './request-target.ts'

const paths: [sent: string, onward: string][] = [
  ['', '/'],
  ['/', '/'],
  ['/x', '/x'],
  ['/x/', '/x/'],
  ['/\\127.0.0.1:1/x', '/%5C127.0.0.1:1/x'],
  ['/%5C127.0.0.1:1/x', '/%5C127.0.0.1:1/x'],
  ['//127.0.0.1/x', '/127.0.0.1/x'],
  ['/a//b/../c/./d', '/a/c/d'],
  ['/../../x', '/x'],
  ['/a%2Fb%2e%2e%2Fc', '/a/b../c'],
  ['/%00', '/%00'],
  ['/a%0d%0ab', '/a%0D%0Ab'],
  ['/a|b"<>^`{}', '/a%7Cb%22%3C%3E%5E%60%7B%7D'],
  ['/a;b:c@d!$&()*+,=~', '/a;b:c@d%21$&%28%29%2A+,=~'],
  ['/a%20b%21%40', '/a%20b%21@'],
  ['/@evil/x', '/@evil/x'],
  ['/http://evil/x', '/http:/evil/x'],
  ['/%C3%A4', '/%C3%A4'],
]
for (const [sent, onward] of paths)
  test(`${JSON.stringify(sent)} behind /proxy is forwarded as ${onward}`, () => {
    const { target } = requestTargetOf('GET', `/api/v1/nodes/n/proxy${sent}`, new URLSearchParams(), '', {
      catalogue: new KindCatalogue(),
      extensions: noExtensions,
    })
    deepEqual(target.kind === 'resource' && [target.subresource, target.path], ['proxy', onward])
  })
