import type { Rule } from 'eslint'

export const vagueWord: RegExp
export const vocabulary: Rule.RuleModule
export const openings: Rule.RuleModule
export const riddles: Rule.RuleModule
