import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { pluginsFolder, whyNoContainers } from './why-no-containers.ts'

test('a machine without programs on its path cannot run containers, and says which are missing', () => {
  const { PATH } = process.env
  process.env['PATH'] = '/nonexistent'
  const why = whyNoContainers()
  process.env['PATH'] = PATH
  match(why ?? '', /need Linux|need root|not installed: /)
  equal(pluginsFolder() === undefined || pluginsFolder()?.startsWith('/'), true)
})
