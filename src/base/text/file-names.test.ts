import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { isFileName, isInnerPath } from './file-names.ts'

const texts: [text: string, isName: boolean, isPath: boolean][] = [
  ['web', true, true],
  ['..data', true, true],
  ['a b\n', true, true],
  ['a/b', false, true],
  ['', false, false],
  ['.', false, false],
  ['..', false, false],
  ['/a', false, false],
  ['a/../b', false, false],
  ['a/', false, false],
  ['a\0b', false, false],
]
for (const [text, isName, isPath] of texts)
  test(`${JSON.stringify(text)} is ${isName ? 'a' : 'no'} file name and ${isPath ? 'an' : 'no'} inner path`, () => {
    equal(isFileName(text), isName)
    equal(isInnerPath(text), isPath)
  })
