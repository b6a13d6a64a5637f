// Definitions of our own with the constructs, the size and the depth of those of widely used projects.
import { assembly } from './assembly.ts'
import { capacity } from './capacity.ts'
import { deliveries } from './delivery.ts'
import { guards } from './guards.ts'
import type { Project } from './project.ts'

export const projects: Readonly<Record<string, Project>> = { assembly, capacity, deliveries, guards }
