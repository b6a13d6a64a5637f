// The definitions of widely used projects, and objects with the recorded response of upstream. They belong to others and are
// no part of this repository: `../shared/facts/crds` has a file for each project, where it exists.
import { ok } from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Project } from './definitions/project.ts'
import { testProject } from './project.suite.ts'

const folder = new URL('../../../shared/facts/crds/', import.meta.url)
const isPresent = existsSync(folder)
const files = isPresent ? readdirSync(folder).filter((file) => file.endsWith('.json')) : []

for (const file of files)
  testProject(file.slice(0, -'.json'.length), JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Project)

test(
  isPresent
    ? 'the folder of recorded projects has projects'
    : 'recorded projects are NOT TESTED, because there is no ../shared/facts/crds',
  () => ok(!isPresent || files.length > 0),
)
