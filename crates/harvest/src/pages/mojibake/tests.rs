//! Texts read in a wrong encoding, and sound ones.

use super::*;
use encoding_rs::{Encoding, UTF_8};

/// How a text looks if it is written in one encoding and read in another.
fn misread(text: &str, written: &'static Encoding, read: &'static Encoding) -> String {
    read.decode_without_bom_handling(&written.encode(text).0).0.into_owned()
}

/// Short and long, with signs, digits and Latin letters.
const CHINESE: [&str; 8] = [
    "为什么猫不会飞？",
    "我们",
    "盲人的梦要不要开灯？",
    "“影子”欠了光的钱，会不会被拉长？",
    "电梯里的镜子会不会晕\n我把时间存进银行，利息是几点",
    "3D电影里的人会不会觉得我们是2D的",
    "如果我喝了卸妆水，会不会吐出真心话……",
    "為什麼雨傘不怕淋雨？",
];

const ENGLISH: [&str; 4] = [
    "Why don’t fish drown?",
    "A “guest” left – why?",
    "Isn’t it odd that “fat chance” and “slim chance” mean the same…",
    "What is the naïve café’s menu?",
];

#[test]
fn a_text_read_in_another_encoding_is_seen() {
    for text in CHINESE.iter().chain(&ENGLISH) {
        for (written, read) in [(UTF_8, WINDOWS_1252), (UTF_8, GB18030)] {
            let wrong = misread(text, written, read);
            assert!(garbled(&wrong).is_some(), "{text}: {wrong}");
            // Read twice in the same wrong way.
            let again = misread(&wrong, UTF_8, WINDOWS_1252);
            assert!(garbled(&again).is_some(), "{text}: {again}");
        }
    }
    // Two characters are too few for what is no valid UTF-8.
    for text in CHINESE.iter().filter(|text| text.chars().count() > 2) {
        for read in [UTF_8, WINDOWS_1252] {
            let wrong = misread(text, GB18030, read);
            assert!(garbled(&wrong).is_some(), "{text}: {wrong}");
        }
    }
    assert_eq!(garbled("Ϊʲô").as_deref(), Some("Ϊʲô"));
    for text in &ENGLISH[..3] {
        let wrong = misread(text, WINDOWS_1252, GB18030);
        assert!(garbled(&wrong).is_some(), "{text}: {wrong}");
    }
}

/// Of twelve languages, with what their encodings lack.
const SOUND: [&str; 40] = [
    "Pourquoi les élèves français dînent-ils à Noël, déjà là-bas, chez l’hôte ?",
    "« Où est passé mon cœur ? » demanda l’âne à l’évêque…",
    "Warum heißt der Käse Käse, und müssen Flöße größer als Füße sein?",
    "Äpfel, Öl, Übung: schöne Grüße aus Köln – „früher“ war’s süßer!",
    "¿Por qué el pingüino no sueña mañana, señor? ¡Qué pregunta más rápida!",
    "Por que não há pão à mão, avó? Coração, maçã, três irmãos e dois cães.",
    "Perché la città è già più là? Così, però, c’è virtù.",
    "Почему кошки не любят собак? Ещё вчера всё было объяснено — «да».",
    "Ёж и ёлка: её моё всё ещё твоё",
    "Чому її їжак з'їв ґаву в Україні? Її країні лінії надії.",
    "Защо котката не обича вода? Ъгълът е ъгъл.",
    "Зашто мачка не воли воду? Љубав, њушка, ћутање, ђак, џеп, јеж.",
    "Tại sao con mèo không thích nước? Ở đâu có phở ngon nhất Việt Nam?",
    "Dlaczego żółw nie śpi, gdy święta są dłuższe? Zażółć gęślą jaźń.",
    "Proč má kůň příliš žluťoučký ocas? Říká se, že úpěl ďábelské ódy.",
    "Miért ül a csigabiga a tökön? Árvíztűrő tükörfúrógép, őrült űrhajó.",
    "De ce pisica și câinele își împart pâinea în țară?",
    "Kediler neden öğle uykusunu çok seviyor? Şişli’de ığdır, İstanbul’da güneş.",
    "Γιατί οι γάτες κοιμούνται όλη μέρα; Άλλοτε ήταν ήσυχα. Ώρα είναι;",
    "Ύστερα ο Όμηρος είπε: «Ίσως αύριο», Έλλη μου.",
    "なぜ猫は水が嫌いなのですか？東京都の駅で待っています。",
    "ﾅｾﾞﾈｺﾊﾐｽﾞｶﾞｷﾗｲﾅﾉ? 半角ｶﾅです",
    "(´･ω･`)ｼｮﾎﾞｰﾝ 猫は無理だろ",
    "고양이는 왜 물을 싫어하나요? 하늘은 카페처럼 넓다. 값싼 커피, 찾기 쉬운 까닭.",
    "왜 漢字는 어렵습니까? 韓國語와 漢字",
    "為什麼貓咪討厭水？這個問題讓龍蝦憂鬱，鬱悶的蠻荒鸚鵡。",
    "魑魅魍魎為何不怕饕餮？囉嗦的麒麟踟躕躑躅。",
    "为什么饕餮不吃魑魅魍魉？龘靐齉爩",
    "لماذا لا تحب القطة الماء؟ پچگژ ٹڈڑ",
    "چرا گربه‌ها آب را دوست ندارند؟ یک کتاب",
    "למה חתולים שונאים מים? שָׁלוֹם",
    "ทำไมแมวไม่ชอบน้ำ? เกมแมวเขาเหล่า",
    "बिल्ली को पानी क्यों पसंद नहीं?",
    "Waarom is één ideeën-coördinator geïnteresseerd in cafés?",
    "Varför är ål på ö så åtråvärd? Räksmörgås, blåbär, höö.",
    "Hvorfor er æøå på en ø så små? Rødgrød med fløde.",
    "Þórður ætíð, íþróttaálfurinn sagði: ég á ýsu.",
    "öäåéè",
    "à é è ù ç â ê î ô û ë ï ü ÿ",
    "Ça va, là où ça gêne ?",
];

#[test]
fn sound_texts_of_many_languages_are() {
    for text in SOUND {
        assert_eq!(garbled(text), None, "{text}");
    }
}

#[test]
fn a_text_read_in_any_other_encoding_is_seen() {
    let mut unseen = Vec::new();
    let foreign = [
        "Почему кошки не любят воду?",
        "Чому кішка не любить воду?",
        "Γιατί οι γάτες κοιμούνται όλη μέρα;",
        "なぜ猫は水が嫌いなのですか？",
        "고양이는 왜 물을 싫어하나요?",
        "ทำไมแมวไม่ชอบน้ำ?",
    ];
    for text in CHINESE.iter().filter(|text| text.chars().count() > 2).chain(&foreign) {
        for (read, name, _) in READ_AS {
            let wrong = misread(text, UTF_8, read);
            if garbled(&wrong).is_none() {
                unseen.push(format!("{name}: {text}: {wrong}"));
            }
        }
    }
    for text in ["Perché è già così?", "Warum heißt der Käse ähnlich?", "Why don’t fish drown – really?"]
    {
        // Of Big5 and Shift JIS what is lost is lost.
        for (read, name, _) in READ_AS {
            let wrong = misread(text, UTF_8, read);
            if garbled(&wrong).is_none() {
                unseen.push(format!("{name}: {text}: {wrong}"));
            }
        }
    }
    for text in
        ["Why don\u{92}t fish drown?", "Why don¡¯t fish drown?", "Why don¡¦t fish drown?", "Perch¨¦ già?"]
    {
        assert!(garbled(text).is_some(), "{text}");
    }
    for (text, written) in [
        ("Почему кошки не любят воду?", WINDOWS_1251),
        ("Почему кошки не любят воду?", KOI8_R),
        ("Γιατί οι γάτες κοιμούνται όλη μέρα;", WINDOWS_1253),
        ("なぜ猫は水が嫌いなのですか？", encoding_rs::EUC_JP),
        ("고양이는 왜 물을 싫어하나요?", EUC_KR),
        ("為什麼貓咪討厭水？", BIG5),
        ("为什么猫不会飞？", GB18030),
    ] {
        let wrong = misread(text, written, WINDOWS_1252);
        if garbled(&wrong).is_none() {
            unseen.push(format!("{}: {text}: {wrong}", written.name()));
        }
    }
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}

#[test]
fn bytes_that_were_lost_do_not_hide_it() {
    for text in [
        "为什么����不会笑？",
        "涓轰粈涔?鐚笉浼氶",
        "涓轰粈涔",
        "ä¸ºä»€ä¹ˆçŒ«ä¸ä¼šé£žï¼Ÿ",
        "求助：涓轰粈涔堢尗涓嶄細椋烇紵",
        "盲人的梦\n涓轰粈涔堢尗涓嶄細椋烇紵",
        "锟斤拷锟斤拷锟斤拷",
        "cafÃ©",
    ] {
        assert!(garbled(text).is_some(), "{text}");
    }
}

#[test]
fn the_piece_is_shown() {
    let wrong = misread("Why don’t fish drown?", WINDOWS_1252, GB18030);
    assert_eq!(garbled(&wrong).as_deref(), Some("don抰"));
    assert_eq!(garbled("A cafÃ©â€™s guest").as_deref(), Some("cafÃ©â€™s"));
    assert_eq!(garbled("It is\u{fffd} odd").as_deref(), Some("is\u{fffd}"));
    let long = format!("{}\u{fffd}{}", "云".repeat(100), "云".repeat(100));
    assert_eq!(garbled(&long).unwrap().chars().count(), SHOWN);
}

#[test]
fn sound_texts_are() {
    for text in CHINESE.iter().chain(&ENGLISH).chain(&[
        "The word 弱智 is Chinese, and so is日本.",
        "£5 or 5€?",
        "为什么锟斤拷烫烫烫会笑？",
        "手持两把锟斤拷锟斤拷，口中疾呼烫烫烫",
        "把iPhone XS丟了怎麼辦",
        "我的MacBook Pro亂碼",
        "联通",
        "通",
        "À la carte: crème brûlée, garçon, naïveté, Übergröße, señor, ÄÖÜ",
        "Привет, как дела? Україна",
        "Γειά σου Κόσμε",
        "שלום עולם",
        "لماذا لا ينام الليل؟",
        "ทำไมแมวไม่พูด?",
        "なぜ猫は飛ばないのですか？",
        "고양이는 왜 날지 못하나요?",
        "(´･ω･`) ヽ(✿ﾟ▽ﾟ)ノ ʕ•ᴥ•ʔ (°Д°) Σ(っ°Д°;)っ ¯\\_(ツ)_/¯ ಠ_ಠ",
        "××××××是什么？······°°°°°°￥￥￥",
        "x²+y³=±αβ·γ°",
        "しδωΓ，Юúθμξνζλοππξι？",
        "👨‍👩‍👧 é e\u{301}",
        "㎏和kg谁更重？①②③",
    ]) {
        assert_eq!(garbled(text), None, "{text}");
    }
}
