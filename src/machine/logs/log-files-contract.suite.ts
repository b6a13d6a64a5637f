// The contract suite of log file drivers.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { LogFiles } from './log-files.ts'

export interface LogFilesUnderTest {
  readonly files: LogFiles
  readonly path: string
  append(text: string): Promise<void>
}

const { signal } = new AbortController()

export function logFilesContract(driver: string, open: () => Promise<LogFilesUnderTest>): void {
  test(`${driver}: a growing log is read from any offset`, async () => {
    const { files, path, append } = await open()
    equal(await files.open(`${path}-missing`), undefined)
    await append('one')
    await using file = await files.open(path)
    if (file === undefined) throw new Error('the log is not there')
    const first = await file.range()
    equal(first.start, 0)
    const all = async () => {
      const { end } = await file.range()
      let text = ''
      for (let at = 0; at < end;) {
        const piece = await file.read(at, 7)
        text += new TextDecoder().decode(piece)
        at += piece.length
      }
      return text
    }
    equal((await all()).endsWith('one\n'), true)
    equal((await file.read(first.end, 10)).length, 0)
    await file.waitForChange(signal) // changes before the call count
    const notified = file.waitForChange(signal)
    await append('two')
    await notified
    equal((await all()).endsWith('two\n'), true)
    equal(await file.isReplaced(), false)
    deepEqual(new TextDecoder().decode(await file.read(first.end - 4, 4)), 'one\n')
  })

  test(`${driver}: waiting for a change can be aborted`, async () => {
    const { files, path, append } = await open()
    await append('one')
    await using file = await files.open(path)
    await file?.waitForChange(signal)
    const gone = new AbortController()
    const waiting = file?.waitForChange(gone.signal)
    gone.abort()
    await rejects(waiting ?? Promise.resolve(), { name: 'AbortError' })
  })
}
