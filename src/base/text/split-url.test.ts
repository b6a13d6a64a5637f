import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { splitUrl, type SplitUrl } from './split-url.ts'

const nothing: SplitUrl = { scheme: '', user: undefined, host: undefined, path: '', query: '', fragment: '' }
const rows: [text: string, parts: Partial<SplitUrl>][] = [
  ['', {}],
  ['/a/b', { path: '/a/b' }],
  ['https://h:1/p?q=1#f', { scheme: 'https', host: 'h:1', path: '/p', query: 'q=1', fragment: 'f' }],
  ['https://u:p@h', { scheme: 'https', user: 'u:p', host: 'h' }],
  ['https://a@b@h/', { scheme: 'https', user: 'a@b', host: 'h', path: '/' }],
  ['//h/p', { host: 'h', path: '/p' }],
  ['https:///p', { scheme: 'https', host: '', path: '/p' }],
  ['mailto:a@b', { scheme: 'mailto', path: 'a@b' }],
  ['1a://h', { path: '1a://h' }],
  ['https://h?#', { scheme: 'https', host: 'h' }],
  ['https://h#a\nb?c', { scheme: 'https', host: 'h', fragment: 'a\nb?c' }],
]
for (const [text, parts] of rows)
  test(`the parts of ${JSON.stringify(text)}`, () => deepEqual(splitUrl(text), { ...nothing, ...parts }))
