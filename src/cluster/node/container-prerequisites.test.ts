import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { cniPluginDirectory, missingContainerPrerequisites } from './container-prerequisites.ts'

test('a machine without the programs on its path cannot run containers, and the missing ones are listed', () => {
  const { PATH } = process.env
  process.env['PATH'] = '/nonexistent'
  const why = missingContainerPrerequisites()
  process.env['PATH'] = PATH
  match(why ?? '', /need Linux|need root|not installed: /)
  equal(cniPluginDirectory() === undefined || cniPluginDirectory()?.startsWith('/'), true)
})
