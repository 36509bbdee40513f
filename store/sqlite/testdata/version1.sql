-- A store of version 1: before the journal, repairs and notes. One session has
-- ended, one was compressed and goes on as another, one broke off among its calls.
PRAGMA auto_vacuum = NONE;
PRAGMA journal_mode = WAL;
BEGIN;
CREATE TABLE sessions (
	n INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE,
	title TEXT UNIQUE,
	parent TEXT NOT NULL,
	relation TEXT NOT NULL,
	workspace TEXT NOT NULL,
	provider TEXT NOT NULL,
	model TEXT NOT NULL,
	created_ns INTEGER NOT NULL,
	updated_ns INTEGER NOT NULL,
	messages INTEGER NOT NULL DEFAULT 0,
	calls INTEGER NOT NULL,
	input_tokens INTEGER NOT NULL,
	cache_read_tokens INTEGER NOT NULL,
	cache_write_tokens INTEGER NOT NULL,
	output_tokens INTEGER NOT NULL,
	reasoning_tokens INTEGER NOT NULL,
	cost_usd REAL NOT NULL,
	end_reason TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_parent ON sessions (parent) WHERE parent <> '';
CREATE TABLE prompts (
	n INTEGER PRIMARY KEY,
	system TEXT NOT NULL
) STRICT;
CREATE TABLE messages (
	key INTEGER PRIMARY KEY,
	session INTEGER AS (key >> 32) VIRTUAL,
	seq INTEGER AS (key & 0xffffffff) VIRTUAL,
	id TEXT NOT NULL,
	role TEXT NOT NULL,
	body TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE message_text USING fts5 (text, tokenize = 'trigram');

INSERT INTO sessions VALUES (1, '20260901-100000-aaaa0001', 'mend the parser', '', '', '/home/u/p', 'openai', 'gpt-5', 1788256900000000000, 1788256904000000000, 4, 2, 100, 0, 0, 20, 0, 0.25, 'end_turn');
INSERT INTO prompts VALUES (1, 'You are careful.');
INSERT INTO messages (key, id, role, body) VALUES (4294967296, 'm1', 'user', '{"role":"user","content":"Why does the parser fail?","rondo":{"id":"m1","time":"2026-09-01T10:01:00Z"}}');
INSERT INTO message_text (rowid, text) VALUES (4294967296, 'Why does the parser fail?');
INSERT INTO messages (key, id, role, body) VALUES (4294967297, 'm2', 'assistant', '{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}],"rondo":{"id":"m2","time":"2026-09-01T10:01:01Z"}}');
INSERT INTO message_text (rowid, text) VALUES (4294967297, 'I look.');
INSERT INTO messages (key, id, role, body) VALUES (4294967298, 'm3', 'tool', '{"role":"tool","content":"package a","tool_call_id":"c1","name":"read_file","rondo":{"id":"m3","status":"ok","time":"2026-09-01T10:01:02Z"}}');
INSERT INTO messages (key, id, role, body) VALUES (4294967299, 'm4', 'assistant', '{"role":"assistant","content":"It ends too early.","rondo":{"id":"m4","time":"2026-09-01T10:01:03Z"}}');
INSERT INTO message_text (rowid, text) VALUES (4294967299, 'It ends too early.');
INSERT INTO sessions VALUES (2, '20260901-100000-aaaa0002', '日本語の会話', '', '', '/home/u/p', 'openai', 'gpt-5', 1788257000000000000, 1788257002000000000, 2, 2, 100, 0, 0, 20, 0, 0.25, 'compression');
INSERT INTO prompts VALUES (2, 'You are careful.');
INSERT INTO messages (key, id, role, body) VALUES (8589934592, 'm1', 'user', '{"role":"user","content":"検索のテストを書いてください","rondo":{"id":"m1","time":"2026-09-01T10:02:00Z"}}');
INSERT INTO message_text (rowid, text) VALUES (8589934592, '検索のテストを書いてください');
INSERT INTO messages (key, id, role, body) VALUES (8589934593, 'm2', 'assistant', '{"role":"assistant","content":"はい、書きました。","rondo":{"id":"m2","time":"2026-09-01T10:02:01Z"}}');
INSERT INTO message_text (rowid, text) VALUES (8589934593, 'はい、書きました。');
INSERT INTO sessions VALUES (3, '20260901-100000-aaaa0003', '日本語の会話 #2', '20260901-100000-aaaa0002', 'compression', '/home/u/p', 'openai', 'gpt-5', 1788257100000000000, 1788257103000000000, 3, 2, 100, 0, 0, 20, 0, 0.25, 'end_turn');
INSERT INTO prompts VALUES (3, 'You are careful.');
INSERT INTO messages (key, id, role, body) VALUES (12884901888, 'm1', 'user', '{"role":"user","content":"検索のテストを書いてください","rondo":{"id":"m1","time":"2026-09-01T10:03:00Z"}}');
INSERT INTO messages (key, id, role, body) VALUES (12884901889, 'm2', 'assistant', '{"role":"assistant","content":"要約。","rondo":{"id":"m2","time":"2026-09-01T10:03:01Z"}}');
INSERT INTO messages (key, id, role, body) VALUES (12884901890, 'm3', 'user', '{"role":"user","content":"ありがとう","rondo":{"id":"m3","time":"2026-09-01T10:03:02Z"}}');
INSERT INTO message_text (rowid, text) VALUES (12884901890, 'ありがとう');
INSERT INTO sessions VALUES (4, '20260901-100000-aaaa0004', 'broken off', '', '', '/home/u/p', 'openai', 'gpt-5', 1788257200000000000, 1788257202000000000, 2, 2, 100, 0, 0, 20, 0, 0.25, '');
INSERT INTO prompts VALUES (4, 'You are careful.');
INSERT INTO messages (key, id, role, body) VALUES (17179869184, 'm1', 'user', '{"role":"user","content":"Run the tests.","rondo":{"id":"m1","time":"2026-09-01T10:04:00Z"}}');
INSERT INTO message_text (rowid, text) VALUES (17179869184, 'Run the tests.');
INSERT INTO messages (key, id, role, body) VALUES (17179869185, 'm2', 'assistant', '{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"shell","arguments":"{\"command\":\"go test\"}"}},{"id":"c2","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"b.go\"}"}}],"rondo":{"id":"m2","time":"2026-09-01T10:04:01Z"}}');
COMMIT;
PRAGMA user_version = 1;
