// Definitions of our own with the constructs, the size and the depth of those of widely used projects.
import { greenhouses } from './greenhouses.ts'
import { observatory } from './observatory.ts'
import type { Project } from './project.ts'
import { quests } from './quests.ts'
import { timetables } from './timetables.ts'

export const projects: Readonly<Record<string, Project>> = { greenhouses, observatory, quests, timetables }
